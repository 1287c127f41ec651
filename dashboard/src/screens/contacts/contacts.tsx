import { Screen } from '../../parts/screen.tsx';

export function Contacts() {
  return <Screen title="Contacts">{null}</Screen>;
}
