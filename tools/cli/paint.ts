import { styleText } from 'node:util'
import type { Environment } from '../../core/project/environment.ts'

/** Adds a colour to a text, or returns it unchanged if colours are off. */
export type Paint = (colour: Colour, text: string) => string

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

/** Colours are on for terminals, unless NO_COLOR is set (no-color.org). */
export const paintFor = (isTerminal: boolean, env: Environment): Paint =>
  isTerminal && !env.NO_COLOR ? coloured : plain

const plain: Paint = (_, text) => text

/** `validateStream`: `paintFor` decided already. */
const coloured: Paint = (colour, text) => styleText(colour, text, { validateStream: false })
