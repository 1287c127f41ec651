/** A link to another screen, within text. */
import { Anchor } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

export const TextLink = createLink(Anchor<'a'>);
