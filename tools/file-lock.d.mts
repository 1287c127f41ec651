export type LockAttempt =
  | { readonly release: () => void; readonly holder?: undefined }
  | { readonly holder: number; readonly release?: undefined };
export declare function processIdentity(pid: number): string | undefined;
export declare function tryLock(path: string): LockAttempt;
export declare function waitForLock(path: string, onWait?: (holder: number) => void): Promise<() => void>;
