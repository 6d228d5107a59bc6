import { FULL, openTwoApps, type Site, type TwoApps } from './two-apps.ts'

/** A project without a cache, and twice with one of its own, over one database. */
export interface TwoCaches extends TwoApps {
  readonly second: Site
}

export async function openTwoCaches(project: string, extension?: string): Promise<TwoCaches> {
  const apps = await openTwoApps(project, extension === undefined ? {} : { extension })
  return { ...apps, second: await apps.open(project) }
}

/** Writes through a random one of the three, or in SQL. */
export interface RandomWriter {
  readonly context: TwoCaches
  readonly random: (bound: number) => number
}

export const pick = ({ random }: RandomWriter, ids: readonly string[]): string =>
  ids[random(ids.length)] ?? 'none'

/** Documents that are gone by now are refused, so the status is not looked at. */
export const ask = ({ context, random }: RandomWriter, method: string, path: string, data?: unknown) =>
  [context.plain, context.cached, context.second][random(3)]?.ask(method, path, {
    as: FULL,
    ...(data === undefined ? {} : { body: { data } }),
  })

export const sql = ({ context }: RandomWriter, text: string, ...values: unknown[]) =>
  context.database.run({ text, values })

/** Adds the documentId to `ids`, unless a document that it links to is deleted by now: then nothing was created. */
export async function create(writer: RandomWriter, path: string, ids: string[], data: object): Promise<void> {
  const made = await ask(writer, 'POST', path, data)
  if (made?.status === 201) ids.push(JSON.parse(made.text).data.documentId)
}
