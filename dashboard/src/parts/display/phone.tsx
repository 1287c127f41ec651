/** A message as a phone shows it. Its content is rendered as text, never as HTML. */
import { Box, Divider, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { api } from '../../client.ts';
import { dayAndMinuteTime, words } from '../../format.ts';
import classes from './phone.module.css';

export type Message = api.MessagePreview;
type Card = Message['cards'][number];

interface PhoneProps {
  readonly message: Message;
  readonly offerEnds?: Date | undefined;
}

export function Phone({ message, offerEnds }: PhoneProps) {
  return (
    <Box className={classes['screen']} role="figure" aria-label="The message as the phone shows it">
      <Bubble card={message} footer={message.footer} offerEnds={offerEnds} />
      {message.cards.length > 0 && (
        <Box className={classes['cards']} tabIndex={0} role="group" aria-label="Cards">
          {message.cards.map((card, at) => (
            <Bubble key={at} card={card} footer={null} />
          ))}
        </Box>
      )}
    </Box>
  );
}

interface BubbleProps {
  readonly card: Card;
  readonly footer: string | null;
  readonly offerEnds?: Date | undefined;
}

function Bubble({ card, footer, offerEnds }: BubbleProps) {
  const isMedia = card.headerFormat !== null && card.headerFormat !== 'TEXT';
  return (
    <Stack gap={6} className={classes['bubble']}>
      {isMedia && (
        <Box className={classes['media']}>
          <Text size="xs" fw={600}>
            {card.headerFormat}
          </Text>
          {card.header && <MediaLink address={card.header} />}
        </Box>
      )}
      {!isMedia && card.header && <Text fw={700}>{card.header}</Text>}
      {card.body && (
        <Text className={classes['text']} dir="auto">
          {formatted(card.body)}
        </Text>
      )}
      {card.body === '' && (
        <Text size="sm" className={classes['faint']}>
          The provider writes the text around the code.
        </Text>
      )}
      {offerEnds && (
        <Text size="sm" className={classes['faint']}>
          The offer ends {dayAndMinuteTime(offerEnds)}
        </Text>
      )}
      {footer && (
        <Text size="xs" className={classes['faint']}>
          {footer}
        </Text>
      )}
      {card.buttons.map((button, at) => (
        <Box key={at}>
          <Divider />
          <Text
            ta="center"
            size="sm"
            fw={600}
            className={classes['button']}
            title={button.target ?? undefined}
          >
            {button.text || words(button.type)}
          </Text>
        </Box>
      ))}
    </Stack>
  );
}

const marks = { '*': 'strong', _: 'em', '~': 's' } as const;
const marked = /(?<![\p{L}\p{N}])([*_~])(?=\S)(.+?)(?<=\S)\1(?![\p{L}\p{N}])/u;

/** `*bold*`, `_italic_` and `~struck~`, also within each other. */
function formatted(text: string): ReactNode {
  const found = marked.exec(text);
  if (found === null) return text;
  const [whole, mark, inner = ''] = found;
  const Mark = marks[mark as keyof typeof marks];
  return (
    <>
      {text.slice(0, found.index)}
      <Mark>{formatted(inner)}</Mark>
      {formatted(text.slice(found.index + whole.length))}
    </>
  );
}

/** The page never loads media that customers link to. */
function MediaLink({ address }: { address: string }) {
  if (!/^https?:\/\//.test(address)) return <Text size="xs">{address}</Text>;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener" className={classes['link']}>
      {address}
    </a>
  );
}
