import { useNotify } from 'ra-core'
import { useState } from 'react'
import { ApiFault, callApi } from '../api/client.ts'
import { asList, asText, isJsonObject } from '../api/json.ts'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import type { InputProps } from './field-props.ts'
import { useForm } from './form-context.tsx'
import { TextInput } from './simple-inputs.tsx'

/** Generates the first free slug of `title`, `title-2`, … among the visible documents; the server checks uniqueness. */
export function UidInput(props: InputProps) {
  const translate = useTranslate()
  const schema = useSchema()
  const notify = useNotify()
  const { waitFor } = useForm()
  const [busy, setBusy] = useState(false)
  const { attribute, siblings, path, readOnly, onChange } = props
  const source = attribute.targetField === null ? '' : asText(siblings[attribute.targetField])
  const type = schema.types.find(
    ({ attributes, kind }) =>
      kind === 'collectionType' && path.length === 1 && attributes.includes(attribute),
  )
  const generate = async () => {
    setBusy(true)
    const base = toSlug(source)
    const sameStart = type
      ? await callApi('GET', type.path, {
          query: {
            fields: [attribute.name],
            filters: { [attribute.name]: { $startsWith: base } },
            pagination: { limit: 100, withCount: false },
          },
        })
          .then(({ body }) => asList(isJsonObject(body) ? (body.data ?? null) : null).filter(isJsonObject))
          .catch((fault: unknown) => {
            // Without permission to read the other documents, the server checks alone.
            const isForbidden = fault instanceof ApiFault && fault.status === 403
            if (!isForbidden) notify(describeFault(fault, translate), { type: 'error' })
            return []
          })
      : []
    setBusy(false)
    const taken = new Set(sameStart.map(document => document[attribute.name]))
    let slug = base
    for (let number = 2; taken.has(slug); number++) slug = `${base}-${number}`
    onChange(slug)
  }
  return (
    <div className="with-button">
      <TextInput {...props} dir="ltr" />
      {attribute.targetField !== null && (
        <ActionButton
          inactive={readOnly || busy || toSlug(source) === ''}
          onClick={() => void waitFor(generate())}
        >
          {translate('generate')}
        </ActionButton>
      )}
    </div>
  )
}

/** Lower-case letters without accents, digits and hyphens. */
const toSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
