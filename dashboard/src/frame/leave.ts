/** Signing out, and the way to the sign-in when the session has ended. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { isSignedOut, readSession, signOut } from '../client.ts';

/** Goes to the sign-in when a request is answered 401; returns the function that signs out. */
export function useLeave(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const isLeaving = useRef(false);
  const go = useCallback(
    async (to: string | undefined) => {
      // Several requests are refused together: only the first one knows the screen to come back to.
      if (isLeaving.current) return;
      isLeaving.current = true;
      queryClient.clear();
      await navigate({ to: '/sign-in', search: { to } });
    },
    [queryClient, navigate],
  );
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe(({ query }) => {
        if (isSignedOut(query.state.error)) void go(router.state.location.href);
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
          (session) => (session === null ? go(router.state.location.href) : undefined),
          () => undefined,
        );
      }),
    [queryClient, go, router],
  );
  return async () => {
    await signOut();
    // Drafts and unanswered requests: the next user of a shared machine must not meet them.
    sessionStorage.clear();
    await go(undefined);
  };
}
