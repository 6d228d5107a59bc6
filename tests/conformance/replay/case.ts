import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** A recorded case, as its file has it. */
export interface Case {
  readonly name: string
  readonly about: string
  readonly vars?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

export interface Step {
  readonly id?: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly as?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: Json
    readonly rawBody?: string
    readonly form?: { readonly files: { readonly file: string; readonly base64: string } }
  }
  readonly capture?: Readonly<Record<string, string>>
  readonly compare?: 'exact' | 'status' | 'shape'
  readonly compareHeaders?: readonly string[]
  readonly expect?: {
    readonly status: number
    readonly body: Json
    readonly headers?: Readonly<Record<string, Json>>
  }
}

const folder = resolve(import.meta.dirname, '..', 'cases')

export function readCases(part: string): readonly Case[] {
  return readdirSync(join(folder, part))
    .sort()
    .map(file => ({
      name: `${part}/${file.replace(/\.json$/, '')}`,
      ...(JSON.parse(readFileSync(join(folder, part, file), 'utf8')) as Omit<Case, 'name'>),
    }))
}

export type Variables = ReadonlyMap<string, Json>

/** Puts values for `${name}`; a text that is one name alone becomes the value itself. */
export function fill(value: Json, variables: Variables): Json {
  if (typeof value === 'string') return fillText(value, variables)
  if (Array.isArray(value)) return value.map(item => fill(item, variables))
  if (!isObject(value)) return value
  const repeat = value.$repeat
  if (Array.isArray(repeat)) return String(fill(repeat[0] ?? '', variables)).repeat(Number(repeat[1]))
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, fill(child, variables)]))
}

function fillText(text: string, variables: Variables): Json {
  const alone = variables.get(/^\$\{([\w.-]+)\}$/.exec(text)?.[1] ?? '')
  return (
    alone ?? text.replace(/\$\{([\w.-]+)\}/g, (whole, name: string) => String(variables.get(name) ?? whole))
  )
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
