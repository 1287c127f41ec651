import { Screen } from '../../parts/screen.tsx';

export function Overview() {
  return <Screen title="Overview">{null}</Screen>;
}
