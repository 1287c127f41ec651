/** Limits the sends of each number per second. */
export interface ThroughputLimit {
  /** False when the number has had `perSecond` sends in this second; 0 sets no limit. */
  allows(phoneNumberId: string, limit: { readonly perSecond: number; readonly now: number }): boolean;
}

export function createThroughputLimit(): ThroughputLimit {
  const windows = new Map<string, { readonly second: number; sends: number }>();
  return {
    allows: (phoneNumberId, { perSecond, now }) => {
      if (perSecond === 0) return true;
      const second = Math.floor(now / 1000);
      const window = windows.get(phoneNumberId);
      if (window?.second !== second) {
        windows.set(phoneNumberId, { second, sends: 1 });
        return true;
      }
      window.sends += 1;
      return window.sends <= perSecond;
    },
  };
}
