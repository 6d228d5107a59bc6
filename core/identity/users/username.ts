/**
 * A username as it is stored and compared: without white space around it, in Unicode's compatibility form (NFKC), so that
 * two names that only differ by compatibility characters (`ａｎｎ`, `ann`) cannot belong to two users.
 */
export const toUsername = (text: string): string => text.normalize('NFKC').trim()

/** Values or a body with the username as it is stored; anything but a text is for others to refuse. */
export const withUsername = <Given extends Readonly<Record<string, unknown>>>(given: Given): Given =>
  typeof given.username === 'string' ? { ...given, username: toUsername(given.username) } : given
