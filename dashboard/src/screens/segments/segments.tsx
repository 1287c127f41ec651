import { Screen } from '../../parts/screen.tsx';

export function Segments() {
  return <Screen title="Segments">{null}</Screen>;
}
