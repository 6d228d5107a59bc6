import { extname } from 'node:path'

/** What a browser shows without running anything in it. */
const SHOWN: ReadonlySet<string> = new Set([
  '.png',
  '.jpg',
  '.jpeg',
  '.gif',
  '.webp',
  '.avif',
  '.mp4',
  '.webm',
  '.mp3',
  '.ogg',
  '.wav',
  '.pdf',
  '.txt',
])

/** SVG, HTML and whatever else could act in the reader's browser is only ever a download. */
export const isHarmless = (key: string): boolean => SHOWN.has(extname(key).toLowerCase())
