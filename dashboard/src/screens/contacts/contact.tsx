import { Screen } from '../../parts/screen.tsx';

export function Contact() {
  return <Screen title="Contact">{null}</Screen>;
}
