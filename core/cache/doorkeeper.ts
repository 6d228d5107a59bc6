/** Whether a key was asked for before, as far as that is remembered; notes that it was now. */
export type Seen = (key: string) => boolean

/** 256 kB, however much is asked for. */
const PLACES = 2 ** 16

/** Of two keys that fall on one place the later is remembered: forgetting costs a read, and so does mistaking one. */
export function openSeen(): Seen {
  const marks = new Int32Array(PLACES)
  return key => {
    const mark = markOf(key)
    const place = mark & (PLACES - 1)
    const isSeen = marks[place] === mark
    marks[place] = mark
    return isSeen
  }
}

/** FNV-1a over UTF-16. */
function markOf(key: string): number {
  let mark = 0x811c9dc5
  for (let at = 0; at < key.length; at++) mark = Math.imul(mark ^ key.charCodeAt(at), 0x01000193)
  return mark ^ (mark >>> 16)
}
