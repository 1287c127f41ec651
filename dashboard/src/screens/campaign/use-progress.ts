/** Live progress of one campaign, while its page is open. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { api } from '../../client.ts';

export type Progress = Pick<
  api.Campaign,
  | 'status'
  | 'pause_reason'
  | 'preparation_status'
  | 'total_contacts'
  | 'total_contacts_skipped'
  | 'counters'
  | 'charged'
> & { readonly rate: number; readonly eta_seconds: number | null };

const againAfterMs = 2_000;
/** The service repeats `progress` after ten seconds without a change: a longer silence is a lost connection. */
const silentAfterMs = 22_000;

/** `live` is false while disconnected. The record is fetched again when the status changes, or sending starts or stops. */
export function useProgress(id: string, enabled: boolean): { progress: Progress | undefined; live: boolean } {
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [live, setLive] = useState(false);
  useEffect(() => {
    if (!enabled) return undefined;
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastState: string | undefined;
    const refresh = () => queryClient.invalidateQueries({ queryKey: ['campaign', id] });
    let silence: ReturnType<typeof setTimeout> | undefined;
    let heard = true;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        source.close();
        setLive(false);
        // Once: a refresh begins the requests anew, and they would never come to their end.
        if (heard) void refresh();
        heard = false;
        open();
      }, silentAfterMs);
    };
    const open = () => {
      listen();
      source = new EventSource(`/dashboard/api/campaigns/${id}/stream`);
      source.addEventListener('open', () => setLive(true));
      source.addEventListener('progress', ({ data }) => {
        listen();
        heard = true;
        setLive(true);
        const next = JSON.parse(data as string) as Progress;
        const now = `${next.status} ${next.preparation_status} ${next.rate > 0}`;
        if (lastState !== undefined && lastState !== now) void refresh();
        lastState = now;
        setProgress(next);
      });
      source.addEventListener('end', () => {
        clearTimeout(silence);
        source.close();
        setLive(false);
        void refresh();
      });
      source.addEventListener('error', () => {
        setLive(false);
        // CLOSED means that the server rejected the stream. The browser reconnects a broken stream, but not a rejected one.
        if (source.readyState !== EventSource.CLOSED) return;
        clearTimeout(silence);
        void refresh();
        timer = setTimeout(open, againAfterMs);
      });
    };
    open();
    return () => {
      clearTimeout(timer);
      clearTimeout(silence);
      source.close();
      setLive(false);
    };
  }, [id, enabled, queryClient]);
  return { progress, live };
}
