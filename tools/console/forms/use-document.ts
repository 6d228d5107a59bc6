import { type Dispatch, type SetStateAction, useCallback, useEffect, useRef, useState } from 'react'
import { ApiFault, callApi, type FieldFault } from '../api/client.ts'
import { equalJson, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { showsDrafts } from '../api/populate.ts'
import type { ApiSchema } from '../api/schema.ts'
import { bodyOf } from '../fields/document-body.ts'
import {
  addressOf,
  type DocumentPlace,
  type DocumentVersion,
  keepInput,
  readInput,
  readVersion,
  versionQuery,
} from './versions.ts'

export interface DocumentState {
  /** Without it the document, or this locale of it, does not exist yet. */
  readonly base: DocumentVersion | null
  readonly values: JsonRecord
  readonly dirty: boolean
  readonly loading: boolean
  readonly busy: boolean
  /** Input of before a reload was put back. */
  readonly restored: boolean
  readonly fault: unknown
  readonly fields: readonly FieldFault[]
  /** The version of another user that conflicts with this one. */
  readonly conflict: DocumentVersion | null
}

const EMPTY: DocumentState = {
  base: null,
  values: {},
  dirty: false,
  loading: true,
  busy: false,
  restored: false,
  fault: null,
  fields: [],
  conflict: null,
}

export interface DocumentForm extends DocumentState {
  readonly change: (name: string, value: JsonValue) => void
  /** Changes several attributes. */
  readonly fill: (values: JsonRecord) => void
  /** The saved document; null if it was refused. */
  readonly save: (publish: boolean) => Promise<JsonRecord | null>
  readonly resolve: (values: JsonRecord) => void
  readonly reload: () => Promise<void>
  readonly forget: () => void
  readonly fail: (fault: unknown) => void
}

/** The form of one version: loads it, keeps what is typed, and writes the difference. */
export function useDocument(schema: ApiSchema, place: DocumentPlace, isNew: boolean): DocumentForm {
  const [state, setState] = useState<DocumentState>(EMPTY)
  const latest = useRef(state)
  latest.current = state
  const merge = useCallback(
    (part: Partial<DocumentState>) => setState(current => ({ ...current, ...part })),
    [],
  )
  const reload = useLoading({ schema, place, isNew, setState, merge })
  const replace = (values: JsonRecord) => {
    const base = state.base?.values ?? {}
    const dirty = !equalJson(values, base)
    const input = dirty ? { base, etag: state.base?.etag ?? null, values } : null
    const fault = keepInput(schema, place, input)
    merge({ values, dirty, ...(fault && { fault }) })
  }
  const save = async (publish: boolean): Promise<JsonRecord | null> => {
    merge({ busy: true, fault: null, fields: [] })
    try {
      let sent = latest.current.values
      const onSaved = (saved: DocumentVersion) => {
        merge({ ...keepTyped(schema, place, { saved, sent, now: latest.current.values }), restored: false })
        sent = saved.values
      }
      const saved = await write(schema, place, latest.current, { publish, onSaved })
      onSaved(saved)
      // The form of a new document is left for the document's own.
      if (!isNew) merge({ busy: false })
      return saved.values
    } catch (fault) {
      merge({ ...(await explain(schema, place, fault)), busy: false })
      return null
    }
  }
  const resolve = (values: JsonRecord) => {
    const base = state.conflict
    keepInput(schema, place, base && { base: base.values, etag: base.etag, values })
    merge({ base, values, conflict: null, dirty: true, fault: null })
  }
  return {
    ...state,
    change: (name, value) => replace({ ...latest.current.values, [name]: value }),
    fill: values => replace({ ...latest.current.values, ...values }),
    save,
    resolve,
    reload: () => reload(),
    forget: () => {
      keepInput(schema, place, null)
      merge({ values: state.base?.values ?? {}, dirty: false, restored: false, fields: [], fault: null })
    },
    fail: fault => merge({ fault }),
  }
}

interface SavedInput {
  readonly saved: DocumentVersion
  /** The values that were saved. */
  readonly sent: JsonRecord
  /** The values of the form, which may be edited while they are saved. */
  readonly now: JsonRecord
}

/** What was saved, and what was typed meanwhile as unsaved input of it. */
function keepTyped(
  schema: ApiSchema,
  place: DocumentPlace,
  { saved, sent, now }: SavedInput,
): Pick<DocumentState, 'base' | 'values' | 'dirty'> {
  const typed = Object.entries(now).filter(([name, value]) => value !== sent[name])
  const values = { ...saved.values, ...Object.fromEntries(typed) }
  const dirty = typed.length > 0
  keepInput(schema, place, null)
  if (dirty) keepInput(schema, savedPlace(place, saved), { base: saved.values, etag: saved.etag, values })
  return { base: saved, values, dirty }
}

/** A new document gets its id when it is saved. */
function savedPlace(place: DocumentPlace, saved: DocumentVersion | null): DocumentPlace {
  const documentId = place.documentId ?? saved?.values.documentId
  return place.type.kind === 'singleType' || documentId === undefined
    ? place
    : { ...place, documentId: String(documentId) }
}

interface LoadingTerms {
  readonly schema: ApiSchema
  readonly place: DocumentPlace
  readonly isNew: boolean
  readonly setState: Dispatch<SetStateAction<DocumentState>>
  merge(part: Partial<DocumentState>): void
}

/** Shows the input that this tab kept, or else loads the document. Returns what loads it again. */
function useLoading({ schema, place, isNew, setState, merge }: LoadingTerms) {
  const { type, documentId, locale } = place
  // biome-ignore lint/correctness/useExhaustiveDependencies: `place` is an object of exactly these.
  const reload = useCallback(
    async (signal?: AbortSignal) => {
      const base = isNew
        ? null
        : await readVersion(schema, place, showsDrafts(type) ? 'draft' : 'published', signal)
      setState(current => ({ ...EMPTY, ...startOf(base, current), loading: false }))
    },
    [schema, type, documentId, locale, isNew],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same.
  useEffect(() => {
    const kept = readInput(place)
    if (kept) {
      const base = isNew ? null : { values: kept.base, etag: kept.etag }
      setState({ ...EMPTY, base, values: kept.values, loading: false, dirty: true, restored: true })
      return
    }
    setState(EMPTY)
    const stop = new AbortController()
    reload(stop.signal).catch((fault: unknown) => {
      if (!stop.signal.aborted) merge({ fault, loading: false })
    })
    return () => stop.abort()
  }, [reload])
  return reload
}

const startOf = (base: DocumentVersion | null, { fault }: DocumentState) => ({
  base,
  values: base?.values ?? {},
  fault: base ? null : fault,
})

interface WriteTerms {
  readonly publish: boolean
  /** Called with the draft that is written before a publication, which may be refused. */
  readonly onSaved: (saved: DocumentVersion) => void
}

/**
 * The draft is written first, on the condition that it did not change meanwhile; publishing then copies the whole draft.
 * A new document is created and published in one write, so that a refusal leaves nothing behind. A type without drafts has one write.
 */
async function write(
  schema: ApiSchema,
  place: DocumentPlace,
  { base, values, dirty }: DocumentState,
  { publish, onSaved }: WriteTerms,
): Promise<DocumentVersion> {
  const { type } = place
  const drafts = showsDrafts(type)
  const publishes = publish && drafts
  const data = bodyOf(schema, type.attributes, base?.values ?? {}, values)
  const draft = { data, status: drafts ? 'draft' : null, etag: base?.etag ?? null }
  if (base === null && place.documentId === null && type.kind === 'collectionType') {
    const created = await send(schema, 'POST', place, publishes ? { ...draft, status: null } : draft)
    return publishes ? readDraft(schema, place, created) : created
  }
  let saved = base
  if (dirty || base === null) saved = await send(schema, 'PUT', place, draft)
  if (publishes) {
    if (saved && saved !== base) onSaved(saved)
    const query = place.locale === null ? {} : { locale: place.locale }
    await callApi('PUT', addressOf(place), { query, body: { data: {} } })
    return readDraft(schema, place, saved)
  }
  return saved ?? { values, etag: null }
}

/** The draft of what was published. */
async function readDraft(
  schema: ApiSchema,
  place: DocumentPlace,
  saved: DocumentVersion | null,
): Promise<DocumentVersion> {
  return (await readVersion(schema, savedPlace(place, saved), 'draft')) ?? saved ?? { values: {}, etag: null }
}

interface Write {
  readonly data: Readonly<Record<string, JsonValue>>
  readonly status: string | null
  readonly etag: string | null
}

async function send(
  schema: ApiSchema,
  method: string,
  place: DocumentPlace,
  write: Write,
): Promise<DocumentVersion> {
  const query = versionQuery(schema, place, write.status)
  const { body, etag } = await callApi(method, addressOf(place), {
    query,
    body: { data: write.data },
    ifMatch: write.etag,
  })
  const data = isJsonObject(body) && isJsonObject(body.data) ? body.data : {}
  return { values: data, etag }
}

/** 412: another user changed the document. Their version is shown next to this one. */
async function explain(
  schema: ApiSchema,
  place: DocumentPlace,
  fault: unknown,
): Promise<Partial<DocumentState>> {
  if (!(fault instanceof ApiFault)) return { fault }
  if (fault.status !== 412) return { fault, fields: fault.fields }
  const status = showsDrafts(place.type) ? 'draft' : 'published'
  const conflict = await readVersion(schema, place, status).catch(() => null)
  return conflict ? { conflict } : { fault }
}
