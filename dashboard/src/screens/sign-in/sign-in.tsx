/** Signing in by a key, or by a link whose token stands behind the `#`. */
import { Alert, Card, Center, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { isOtherWorkspace, isSignedOut, openSignIns, signIn } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { KeyField } from '../../parts/forms/key-field.tsx';

const linkRefusal = 'This link was used already, or is older than ten minutes. Ask for another one.';

const route = getRouteApi('/sign-in');

export function SignIn() {
  useDocumentTitle('Sign in · Messaging campaigns');
  const { to, why } = route.useSearch();
  const router = useRouter();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const tried = useRef<string>(undefined);
  /** A link that waits for a decision, because it leads to another workspace. */
  const [link, setLink] = useState<{ token: string; question: string }>();

  const enter = async (proof: Parameters<typeof signIn>[0], refusal: string) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(proof);
      const signIns = openSignIns();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches the tabs of this origin alone
      signIns.postMessage('signed in');
      signIns.close();
      queryClient.clear();
      // Only a path of the dashboard is followed: a link must not lead to another site.
      if (to?.startsWith('/') && !to.startsWith('//')) router.history.push(router.basepath + to);
      else await navigate({ to: '/' });
    } catch (error) {
      const { message } = error as Error;
      if ('token' in proof && isOtherWorkspace(error)) setLink({ token: proof.token, question: message });
      else setProblem(isSignedOut(error) ? refusal : message);
    } finally {
      setBusy(false);
    }
  };

  const hash = useRouterState({ select: ({ location }) => location.hash });
  useEffect(() => {
    const token = /^token=([\w-]+)$/.exec(hash)?.[1];
    if (token === undefined || tried.current === token) return;
    tried.current = token;
    // The token works once, so it need not stay in the browser's history.
    history.replaceState(null, '', location.pathname);
    void enter({ token }, linkRefusal);
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter({ api_key: key.trim() }, 'This key is not valid. Check that all of it was pasted.');
  };
  if (link !== undefined)
    return (
      <Center mih="100dvh" p="md" component="main">
        <Card withBorder padding="xl" w={400}>
          <Stack>
            <Title order={1} size="h3">
              Another workspace
            </Title>
            <Text>{link.question}. Signing in by it ends this session, in all tabs.</Text>
            {problem !== undefined && (
              <Alert color="red" role="alert">
                {problem}
              </Alert>
            )}
            <ActionButton
              loading={busy}
              onClick={() => void enter({ token: link.token, replace: true }, linkRefusal)}
            >
              Sign in by the link
            </ActionButton>
            <ActionButton variant="default" onClick={() => void navigate({ to: '/' })}>
              Stay signed in
            </ActionButton>
          </Stack>
        </Card>
      </Center>
    );
  return (
    <Center mih="100dvh" p="md" component="main">
      <Card withBorder padding="xl" w={400} component="form" onSubmit={submit}>
        <Stack>
          <Title order={1} size="h3">
            Messaging campaigns
          </Title>
          {why === 'ended' && (
            <Alert color="blue" variant="light" role="status">
              Your session has ended. Sign in to go on where you were.
            </Alert>
          )}
          <Text size="sm" c="dimmed">
            Sign in with your workspace’s API key. You need a channel key to send.
          </Text>
          <KeyField
            label="API key"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- there is nothing else on this screen
            autoFocus
          />
          {problem !== undefined && (
            <Alert color="red" role="alert">
              {problem}
            </Alert>
          )}
          <ActionButton type="submit" loading={busy}>
            Sign in
          </ActionButton>
        </Stack>
      </Card>
    </Center>
  );
}
