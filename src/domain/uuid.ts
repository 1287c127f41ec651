const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Any version, either case. */
export const isUuid = (text: string): boolean => uuid.test(text);
