import type { Environment } from '../../core/project/environment.ts'

/** Adds a colour to a text, or returns it unchanged if colours are off. */
export type Paint = (colour: Colour, text: string) => string

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const
export type Colour = keyof typeof CODES

/** Colours are on for terminals, unless NO_COLOR is set (no-color.org). */
export const paintFor = (isTerminal: boolean, env: Environment): Paint =>
  isTerminal && !env.NO_COLOR ? coloured : plain

const plain: Paint = (_, text) => text

function coloured(colour: Colour, text: string): string {
  const [on, off] = CODES[colour]
  return `\u001B[${on}m${text}\u001B[${off}m`
}
