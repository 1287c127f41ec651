/** Signing out, and the way to the sign-in when the session has ended. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { isSignedOut, openSignIns, readSession, signOut, type Session } from '../client.ts';

/** Goes to the sign-in when a request is answered 401; returns the function that signs out. */
export function useLeave(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const isLeaving = useRef(false);
  const go = useCallback(
    async (to: string | undefined, why?: 'ended') => {
      // Several requests are refused together: only the first one knows the screen to come back to.
      if (isLeaving.current) return;
      isLeaving.current = true;
      queryClient.clear();
      await navigate({ to: '/sign-in', search: { to, why } });
    },
    [queryClient, navigate],
  );
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe(({ query }) => {
        if (isSignedOut(query.state.error)) void go(router.state.location.href, 'ended');
      }),
    [queryClient, go, router],
  );
  useEffect(
    () =>
      queryClient.getMutationCache().subscribe(({ mutation }) => {
        if (!isSignedOut(mutation?.state.error)) return;
        // A refused operator's key is answered 401 as well, and leaves the session as it was.
        const asked = queryClient.fetchQuery({ queryKey: ['session'], queryFn: readSession, staleTime: 0 });
        asked.then(
          (session) => (session === null ? go(router.state.location.href, 'ended') : undefined),
          () => undefined,
        );
      }),
    [queryClient, go, router],
  );
  useEffect(() => {
    const signIns = openSignIns();
    // With another key, everything done here would be done in that key's workspace.
    signIns.addEventListener('message', () => {
      const shown = queryClient.getQueryData<Session | null>(['session']);
      readSession().then(
        (session) => (session?.keyId === shown?.keyId ? undefined : location.reload()),
        () => location.reload(),
      );
    });
    return () => signIns.close();
  }, [queryClient]);
  return async () => {
    await signOut();
    // Drafts and unanswered requests: the next user of a shared machine must not meet them.
    sessionStorage.clear();
    await go(undefined);
  };
}
