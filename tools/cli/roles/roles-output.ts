import type { CommandTerms } from '../command-terms.ts'

export const FORMS = ['text', 'json', 'markdown'] as const
export type Form = (typeof FORMS)[number]

/** Where the commands of `plinth roles` find the project, and how they answer. */
export interface RolesTerms extends CommandTerms {
  readonly form: Form
}

/** Columns that the text of a command takes at most. */
export const WIDTH = 100

/** Words on as many lines as they need, none longer than `width` where the words allow it. */
export function wrap(words: readonly string[], width: number, between = ' '): readonly string[] {
  const lines: string[] = []
  for (const [index, word] of words.entries()) {
    const piece = index < words.length - 1 ? word + between.trimEnd() : word
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + piece.length <= width)
      lines[lines.length - 1] = `${last} ${piece}`
    else lines.push(piece)
  }
  return lines
}
