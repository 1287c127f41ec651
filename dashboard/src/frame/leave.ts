/** Signing out, and the way to the sign-in when the session has ended. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { isSignedOut, signOut } from '../client.ts';
import { forgetDrafts } from '../screens/new-campaign/draft.ts';

/** Goes to the sign-in when any query is answered 401; returns the function that signs out. */
export function useLeave(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const go = useCallback(
    async (to: string | undefined) => {
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
  return async () => {
    await signOut();
    forgetDrafts();
    await go(undefined);
  };
}
