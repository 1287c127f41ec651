/** A link to another screen that looks like a button. */
import { Button } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

export const ButtonLink = createLink(Button<'a'>);
