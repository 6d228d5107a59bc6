import { type Dispatch, type SetStateAction, useCallback, useEffect, useRef, useState } from 'react'
import { ApiFault, callApi, type FieldFault } from '../api/client.ts'
import { equalJson, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { showsDrafts } from '../api/populate.ts'
import type { ApiSchema } from '../api/schema.ts'
import { bodyOf } from '../fields/document-body.ts'
import { applyChange, type ValueChange } from '../fields/field-props.ts'
import {
  addressOf,
  type DocumentVersion,
  readStoredInput,
  readVersion,
  storeInput,
  type VersionKey,
  versionQuery,
} from './versions.ts'

export interface DocumentState {
  /** The saved version; null: the document, or this locale of it, does not exist yet. */
  readonly base: DocumentVersion | null
  readonly values: JsonRecord
  readonly dirty: boolean
  readonly loading: boolean
  readonly busy: boolean
  /** The form shows unsaved input of before a reload. */
  readonly restored: boolean
  readonly fault: unknown
  readonly fields: readonly FieldFault[]
  /** The version that another user saved meanwhile. */
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
  readonly change: (name: string, change: ValueChange) => void
  /** Changes several attributes. */
  readonly fill: (values: JsonRecord) => void
  /** The saved document; null if it was refused. */
  readonly save: (publish: boolean) => Promise<JsonRecord | null>
  readonly resolve: (values: JsonRecord) => void
  readonly reload: () => Promise<void>
  readonly forget: () => void
  readonly fail: (fault: unknown) => void
  /** Returns the promise of a request whose result changes the form, which is busy until it is settled. */
  readonly waitFor: <Result>(request: Promise<Result>) => Promise<Result>
}

/** The state of the form of one version: loads it, stores unsaved input in the browser, and writes the difference. */
export function useDocument(schema: ApiSchema, versionKey: VersionKey, isNew: boolean): DocumentForm {
  const [state, setState] = useState<DocumentState>(EMPTY)
  const latest = useRef(state)
  latest.current = state
  const merge = useCallback(
    (part: Partial<DocumentState>) => setState(current => ({ ...current, ...part })),
    [],
  )
  const reload = useLoading({ schema, versionKey, isNew, setState, merge })
  const { isWaiting, waitFor } = useRequests()
  // Also called by the closures of earlier renders, after their requests.
  const fill = (changed: JsonRecord) => {
    const { values, dirty, input } = withChanges(latest.current, changed)
    const fault = storeInput(schema, versionKey, input)
    latest.current = { ...latest.current, values, dirty }
    merge({ values, dirty, ...(fault && { fault }) })
  }
  const save = async (publish: boolean): Promise<JsonRecord | null> => {
    merge({ busy: true, fault: null, fields: [] })
    try {
      let sent = latest.current.values
      const onSaved = (saved: DocumentVersion) => {
        merge({
          ...applySaved(schema, versionKey, { saved, sent, current: latest.current.values }),
          restored: false,
        })
        sent = saved.values
      }
      const saved = await write(schema, versionKey, latest.current, { publish, onSaved })
      onSaved(saved)
      // The page of a new document is replaced by the page of the saved one.
      if (!isNew) merge({ busy: false })
      return saved.values
    } catch (fault) {
      merge({ ...(await faultState(schema, versionKey, fault)), busy: false })
      return null
    }
  }
  const resolve = (values: JsonRecord) => {
    const base = state.conflict
    storeInput(schema, versionKey, base && { base: base.values, etag: base.etag, values })
    merge({ base, values, conflict: null, dirty: true, fault: null })
  }
  return {
    ...state,
    busy: state.busy || isWaiting,
    change: (name, change) => fill({ [name]: applyChange(change, latest.current.values[name] ?? null) }),
    fill,
    waitFor,
    save,
    resolve,
    reload: () => reload(),
    forget: () => {
      storeInput(schema, versionKey, null)
      merge({ values: state.base?.values ?? {}, dirty: false, restored: false, fields: [], fault: null })
    },
    fail: fault => merge({ fault }),
  }
}

/** The values of the form, and the input that the browser keeps; null: none is unsaved. */
function withChanges({ base: saved, values: before }: DocumentState, changed: JsonRecord) {
  const base = saved?.values ?? {}
  const values = { ...before, ...changed }
  const dirty = !equalJson(values, base)
  return { values, dirty, input: dirty ? { base, etag: saved?.etag ?? null, values } : null }
}

interface Requests extends Pick<DocumentForm, 'waitFor'> {
  readonly isWaiting: boolean
}

function useRequests(): Requests {
  const [requests, setRequests] = useState(0)
  return {
    isWaiting: requests > 0,
    waitFor: request => {
      setRequests(count => count + 1)
      return request.finally(() => setRequests(count => count - 1))
    },
  }
}

interface SavedInput {
  readonly saved: DocumentVersion
  /** The values that were saved. */
  readonly sent: JsonRecord
  /** The values of the form, which may be edited while they are saved. */
  readonly current: JsonRecord
}

/** The form after a save: input that was edited during the request stays unsaved. */
function applySaved(
  schema: ApiSchema,
  versionKey: VersionKey,
  { saved, sent, current }: SavedInput,
): Pick<DocumentState, 'base' | 'values' | 'dirty'> {
  const edited = Object.entries(current).filter(([name, value]) => value !== sent[name])
  const values = { ...saved.values, ...Object.fromEntries(edited) }
  const dirty = edited.length > 0
  storeInput(schema, versionKey, null)
  if (dirty)
    storeInput(schema, savedVersionKey(versionKey, saved), { base: saved.values, etag: saved.etag, values })
  return { base: saved, values, dirty }
}

/** Adds the documentId that the first save of a new document created. */
function savedVersionKey(versionKey: VersionKey, saved: DocumentVersion | null): VersionKey {
  const documentId = versionKey.documentId ?? saved?.values.documentId
  return versionKey.type.kind === 'singleType' || documentId === undefined
    ? versionKey
    : { ...versionKey, documentId: String(documentId) }
}

interface LoadingOptions {
  readonly schema: ApiSchema
  readonly versionKey: VersionKey
  readonly isNew: boolean
  readonly setState: Dispatch<SetStateAction<DocumentState>>
  merge(part: Partial<DocumentState>): void
}

/** Restores the unsaved input of this tab, or else loads the document. Returns a function that reloads it. */
function useLoading({ schema, versionKey, isNew, setState, merge }: LoadingOptions) {
  const { type, documentId, locale } = versionKey
  // biome-ignore lint/correctness/useExhaustiveDependencies: `versionKey` has exactly these properties.
  const reload = useCallback(
    async (signal?: AbortSignal) => {
      const base = isNew
        ? null
        : await readVersion(schema, versionKey, showsDrafts(type) ? 'draft' : 'published', signal)
      setState(current => ({ ...EMPTY, ...startOf(base, current), loading: false }))
    },
    [schema, type, documentId, locale, isNew],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same.
  useEffect(() => {
    const stored = readStoredInput(versionKey)
    if (stored) {
      const base = isNew ? null : { values: stored.base, etag: stored.etag }
      setState({ ...EMPTY, base, values: stored.values, loading: false, dirty: true, restored: true })
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

interface WriteOptions {
  readonly publish: boolean
  /** Called with the draft that is written before a publication, which may be refused. */
  readonly onSaved: (saved: DocumentVersion) => void
}

/**
 * The draft is written first, on the condition that it did not change meanwhile; publishing then copies the whole draft.
 * A new document is created and published in one write, so that a failed publication creates nothing. A type without drafts has one write.
 */
async function write(
  schema: ApiSchema,
  versionKey: VersionKey,
  { base, values, dirty }: DocumentState,
  { publish, onSaved }: WriteOptions,
): Promise<DocumentVersion> {
  const { type } = versionKey
  const drafts = showsDrafts(type)
  const publishes = publish && drafts
  const data = bodyOf(schema, type.attributes, base?.values ?? {}, values)
  const draft = { data, status: drafts ? 'draft' : null, etag: base?.etag ?? null }
  if (base === null && versionKey.documentId === null && type.kind === 'collectionType') {
    const created = await send(schema, 'POST', versionKey, publishes ? { ...draft, status: null } : draft)
    return publishes ? readDraft(schema, versionKey, created) : created
  }
  let saved = base
  if (dirty || base === null) saved = await send(schema, 'PUT', versionKey, draft)
  if (publishes) {
    if (saved && saved !== base) onSaved(saved)
    const query = versionKey.locale === null ? {} : { locale: versionKey.locale }
    await callApi('PUT', addressOf(versionKey), { query, body: { data: {} } })
    return readDraft(schema, versionKey, saved)
  }
  return saved ?? { values, etag: null }
}

/** The draft after a publication, which has the ETag for the next save. */
async function readDraft(
  schema: ApiSchema,
  versionKey: VersionKey,
  saved: DocumentVersion | null,
): Promise<DocumentVersion> {
  return (
    (await readVersion(schema, savedVersionKey(versionKey, saved), 'draft')) ??
    saved ?? { values: {}, etag: null }
  )
}

interface Write {
  readonly data: Readonly<Record<string, JsonValue>>
  readonly status: string | null
  readonly etag: string | null
}

async function send(
  schema: ApiSchema,
  method: string,
  versionKey: VersionKey,
  write: Write,
): Promise<DocumentVersion> {
  const query = versionQuery(schema, versionKey, write.status)
  const { body, etag } = await callApi(method, addressOf(versionKey), {
    query,
    body: { data: write.data },
    ifMatch: write.etag,
  })
  const data = isJsonObject(body) && isJsonObject(body.data) ? body.data : {}
  return { values: data, etag }
}

/** Converts a failed save to form state. 412: another user changed the document, whose version is then loaded. */
async function faultState(
  schema: ApiSchema,
  versionKey: VersionKey,
  fault: unknown,
): Promise<Partial<DocumentState>> {
  if (!(fault instanceof ApiFault)) return { fault }
  if (fault.status !== 412) return { fault, fields: fault.fields }
  const status = showsDrafts(versionKey.type) ? 'draft' : 'published'
  const conflict = await readVersion(schema, versionKey, status).catch(() => null)
  return conflict ? { conflict } : { fault }
}
