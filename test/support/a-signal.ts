/** A promise and the function that resolves it: lets a test hold one thing until another has happened. */
export function aSignal(): readonly [sent: Promise<void>, send: () => void] {
  let send = (): void => undefined;
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return [sent, send];
}
