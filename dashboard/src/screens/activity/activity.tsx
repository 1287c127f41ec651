import { Screen } from '../../parts/screen.tsx';

export function Activity() {
  return <Screen title="Activity">{null}</Screen>;
}
