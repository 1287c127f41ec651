/** `[#####.....]  51 %  10,240 of 20,000  812/s  0:12 left` */
export interface ProgressState {
  readonly done: number;
  readonly total: number;
  /** Milliseconds since the first item was done. */
  readonly elapsedMs: number;
}

const width = 30;

export function progressBar({ done, total, elapsedMs }: ProgressState): string {
  const share = total === 0 ? 1 : Math.min(done / total, 1);
  const filled = Math.round(share * width);
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const left = rate > 0 ? clock((total - done) / rate) : '-:--';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${bar} ${percent} %  ${count(done)} of ${count(total)}  ${count(Math.round(rate))}/s  ${left} left`;
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
