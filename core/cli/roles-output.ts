import type { Environment } from '../project/environment.ts'

export const FORMS = ['text', 'json', 'markdown'] as const
export type Form = (typeof FORMS)[number]

/** Where the commands of `plinth roles` find the project, and how they answer. */
export interface RolesTerms {
  readonly folder: string
  readonly env: Environment
  readonly form: Form
  readonly paint: Paint
  /** What was asked for. */
  readonly write: (text: string) => void
  /** Why there is no answer. */
  readonly complain: (text: string) => void
}

/** Text in a colour, or as it is where colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const
export type Colour = keyof typeof CODES

/** Colours are for a terminal whose user has not said no (no-color.org). */
export const paintFor = (isTerminal: boolean, env: Environment): Paint =>
  isTerminal && !env.NO_COLOR ? coloured : plain

const plain: Paint = (_, text) => text

function coloured(colour: Colour, text: string): string {
  const [on, off] = CODES[colour]
  return `\u001B[${on}m${text}\u001B[${off}m`
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
