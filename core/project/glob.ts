import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** `*`, `?` and `**` make a path stand for several. */
export const isPattern = (path: string): boolean => /[*?]/.test(path)

/** The files under a folder that a pattern stands for, in the order of their paths. Hidden files only where the pattern says the dot. */
export async function filesMatching(folder: string, pattern: string): Promise<readonly string[]> {
  const found = await walk(
    folder,
    pattern.split('/').filter(part => part !== '' && part !== '.'),
  )
  return Array.from(new Set(found)).sort()
}

async function walk(folder: string, parts: readonly string[]): Promise<readonly string[]> {
  const [part, ...rest] = parts
  if (part === undefined) return []
  if (part === '..') return walk(join(folder, part), rest)
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  if (part === '**')
    return walkAnywhere(
      folder,
      rest,
      entries.filter(entry => entry.isDirectory() && !isHidden(entry.name)),
    )
  const matches = entries.filter(entry => fits(entry.name, part))
  if (rest.length === 0)
    return matches.filter(entry => !entry.isDirectory()).map(entry => join(folder, entry.name))
  const deeper = await Promise.all(matches.map(entry => walk(join(folder, entry.name), rest)))
  return deeper.flat()
}

async function walkAnywhere(
  folder: string,
  rest: readonly string[],
  folders: readonly { name: string }[],
): Promise<readonly string[]> {
  const here = await walk(folder, rest)
  const below = await Promise.all(folders.map(entry => walk(join(folder, entry.name), ['**', ...rest])))
  return [...here, ...below.flat()]
}

const isHidden = (name: string): boolean => name.startsWith('.')

/** Whether a name is one of those that a part with `*` and `?` stands for; in the product of their lengths at most. */
function fits(name: string, part: string): boolean {
  if (isHidden(name) && !part.startsWith('.')) return false
  let at = 0
  let star = -1
  let retry = 0
  for (let index = 0; index < name.length; ) {
    if (part[at] === '*') {
      star = at++
      retry = index
    } else if (part[at] === '?' || part[at] === name[index]) {
      at++
      index++
    } else if (star >= 0) {
      // The last star takes one character more.
      at = star + 1
      index = ++retry
    } else return false
  }
  return /^\**$/.test(part.slice(at))
}
