import { Screen } from '../../parts/screen.tsx';

export function Conversations() {
  return <Screen title="Conversations">{null}</Screen>;
}
