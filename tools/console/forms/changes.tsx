import { useState } from 'react'
import { equalJson, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { type AttributeInfo, type TypeInfo, toLabel } from '../api/schema.ts'
import { describeAttribute } from '../lists/cell-value.tsx'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { Modal } from '../shell/modal.tsx'

/** Attributes of two versions that differ. Versions number their components differently, so ids do not count. */
export const compareVersions = (
  type: TypeInfo,
  one: JsonRecord,
  other: JsonRecord,
): readonly AttributeInfo[] =>
  type.attributes.filter(
    ({ name, readable }) =>
      readable && !VERSION_ATTRIBUTES.has(name) && !equalJson(comparable(one[name]), comparable(other[name])),
  )

/** Attributes that differ between any two versions and are not content. */
const VERSION_ATTRIBUTES: ReadonlySet<string> = new Set([
  'id',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'createdBy',
  'updatedBy',
])

function comparable(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(comparable)
  if (!isJsonObject(value)) return value ?? null
  if (value.documentId !== undefined) return value.documentId
  const { id: _id, __key: _key, ...rest } = value
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, comparable(each)]))
}

interface ChangesModalProps {
  readonly type: TypeInfo
  readonly published: JsonRecord
  readonly draft: JsonRecord
  /** null: the draft may not be discarded. */
  readonly onDiscard: (() => void) | null
  /** A save is in progress, which would come after. */
  readonly busy: boolean
  readonly onClose: () => void
}

/** The differences between the draft and the published version. */
export function ChangesModal({ type, published, draft, onDiscard, busy, onClose }: ChangesModalProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const changes = compareVersions(type, published, draft)
  return (
    <Modal title={translate('changes')} wide onClose={onClose}>
      {changes.length === 0 && <p>{translate('noChanges')}</p>}
      <table hidden={changes.length === 0} className="changes">
        <thead>
          <tr>
            <th>{translate('attribute')}</th>
            <th>{translate('published')}</th>
            <th>{translate('draft')}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(attribute => (
            <tr key={attribute.name}>
              <th>{toLabel(attribute.name)}</th>
              <td data-label={translate('published')} dir="auto">
                {describeAttribute(schema, attribute, published[attribute.name] ?? null) || '—'}
              </td>
              <td data-label={translate('draft')} dir="auto">
                {describeAttribute(schema, attribute, draft[attribute.name] ?? null) || '—'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <button type="button" onClick={onClose}>
          {translate('close')}
        </button>
        {onDiscard && changes.length > 0 && (
          <ActionButton className="danger" inactive={busy} onClick={onDiscard}>
            {translate('discard')}
          </ActionButton>
        )}
      </footer>
    </Modal>
  )
}

interface ConflictModalProps {
  readonly type: TypeInfo
  readonly base: JsonRecord
  readonly mine: JsonRecord
  readonly theirs: JsonRecord
  readonly onResolve: (values: JsonRecord) => void
}

/**
 * A three-way merge after another user changed the document. Attributes that only one side changed are taken from that side; for the
 * others the user chooses. Nothing is written before the next save.
 */
export function ConflictModal({ type, base, mine, theirs, onResolve }: ConflictModalProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const changed = compareVersions(type, base, mine).filter(({ writable }) => writable)
  const foreign = new Set(compareVersions(type, base, theirs))
  const [refused, setRefused] = useState<ReadonlySet<string>>(new Set())
  const resolve = () => {
    const kept = changed.filter(({ name }) => !refused.has(name))
    onResolve({ ...theirs, ...Object.fromEntries(kept.map(({ name }) => [name, mine[name] ?? null])) })
  }
  const choose = (name: string, own: boolean) =>
    setRefused(new Set(own ? [...refused].filter(each => each !== name) : [...refused, name]))
  return (
    <Modal title={translate('conflict')} wide onClose={null}>
      <p>{translate('conflictHelp')}</p>
      <table className="changes">
        <thead>
          <tr>
            <th>{translate('attribute')}</th>
            <th>{translate('mine')}</th>
            <th>{translate('theirs')}</th>
          </tr>
        </thead>
        <tbody>
          {changed.map(attribute => (
            <tr key={attribute.name}>
              <th>
                {toLabel(attribute.name)} {foreign.has(attribute) && <em>{translate('bothChanged')}</em>}
              </th>
              {[mine, theirs].map((version, index) => (
                <td
                  key={index === 0 ? 'mine' : 'theirs'}
                  data-label={translate(index === 0 ? 'mine' : 'theirs')}
                >
                  <label className="choice">
                    <input
                      type="radio"
                      name={`conflict-${attribute.name}`}
                      checked={refused.has(attribute.name) === (index === 1)}
                      onChange={() => choose(attribute.name, index === 0)}
                    />
                    <bdi>{describeAttribute(schema, attribute, version[attribute.name] ?? null) || '—'}</bdi>
                  </label>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <button type="button" className="primary" onClick={resolve}>
          {translate('continueEditing')}
        </button>
      </footer>
    </Modal>
  )
}
