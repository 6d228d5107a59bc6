import type { ContentType } from '../../model/model.ts'
import type { ChangeTerms } from '../links/link-change.ts'
import { placeRef } from '../links/link-targets.ts'
import { choiceOf, countMatching, draftsSeenBy } from '../read/matching.ts'
import type { ListView } from '../rows/link-order.ts'
import type { GivenBody } from '../values/given-body.ts'
import type { Saving } from './version-context.ts'

export const WHOLE_DRAFT: ListView = { status: 'draft', drafted: null }

/** `target`: the type that the list is of. */
export async function viewOf(
  { command, terms, documentId }: Writer,
  { name, target }: { readonly name: string; readonly target: ContentType },
  { body, found }: { readonly body: GivenBody; readonly found: ChangeTerms['found'] },
): Promise<ListView> {
  const named = neighbours(body, name)
  if (named.length === 0) return WHOLE_DRAFT
  const documents = new Map(named.map(id => [id, found(target, placeRef(id)).key]))
  const status = (await seesDraft({ command, terms, documentId })) ? 'draft' : 'published'
  const match = { type: target, documentIds: [...documents.keys()] }
  const seen = await draftsSeenBy(command.conditions, match, terms)
  const drafted = seen && [...documents].flatMap(([id, key]) => (seen.has(id) ? [key] : []))
  return { status, drafted }
}

type Writer = Pick<Saving, 'command' | 'terms' | 'documentId'>

async function seesDraft({ command, terms, documentId }: Writer): Promise<boolean> {
  const { type, conditions, locale } = command
  const { drafts } = conditions
  if (!type.draftAndPublish || drafts === undefined || drafts?.where === null) return true
  if (drafts === null) return false
  const match = { type, documentIds: [documentId], locale: choiceOf(type, locale), filter: drafts.where }
  return (await countMatching(match, terms)) > 0
}

/** The documents that positions name. */
function neighbours({ values }: GivenBody, name: string): readonly string[] {
  const value = values.get(name)
  if (value?.kind !== 'links' || value.change?.kind !== 'change') return []
  const named = value.change.connect.flatMap(({ position }) =>
    'documentId' in position ? [position.documentId] : [],
  )
  return [...new Set(named)]
}
