import { asList, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { toLabel } from '../api/schema.ts'
import { describeValue } from '../lists/cell-value.tsx'
import { useSchema } from '../shell/context.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { withoutIds } from './document-body.ts'
import { applyChange, type HolderProps } from './field-props.ts'
import { OrderedList } from './ordered-list.tsx'

interface ComponentValuesProps extends HolderProps {
  readonly component: string
  readonly item: JsonRecord
  readonly onItem: (change: (item: JsonRecord) => JsonRecord) => void
}

function ComponentValues({ component, item, path, onItem, field: Field }: ComponentValuesProps) {
  const attributes = useSchema().components.get(component) ?? []
  return (
    <>
      {attributes
        .filter(({ name }) => name !== 'id')
        .map(attribute => (
          <Field
            key={attribute.name}
            attribute={attribute}
            path={[...path, attribute.name]}
            value={item[attribute.name] ?? null}
            help={null}
            siblings={item}
            onChange={change =>
              onItem(current => ({
                ...current,
                [attribute.name]: applyChange(change, current[attribute.name] ?? null),
              }))
            }
          />
        ))}
    </>
  )
}

export function ComponentField(props: HolderProps) {
  const translate = useTranslate()
  const { attribute, value, readOnly, onChange } = props
  if (!isJsonObject(value))
    return (
      <button type="button" disabled={readOnly} onClick={() => onChange({})}>
        {translate('add')} {toLabel(attribute.name)}
      </button>
    )
  return (
    <>
      <ComponentValues
        {...props}
        component={attribute.component ?? ''}
        item={value}
        onItem={change => onChange(current => (isJsonObject(current) ? change(current) : current))}
      />
      {!readOnly && (
        <button type="button" onClick={() => onChange(null)}>
          {translate('remove')} {toLabel(attribute.name)}
        </button>
      )}
    </>
  )
}

/** A new entry has no id; `key` identifies it in React and is not sent. */
const newItem = (component: string | null): JsonRecord => ({
  ...(component !== null && { __component: component }),
  __key: crypto.randomUUID(),
})

const keyOfItem = (item: JsonRecord, index: number): string =>
  String(item.__key ?? (item.id === undefined ? index : `${item.__component ?? ''}${item.id}`))

export function ComponentListField(props: HolderProps) {
  const translate = useTranslate()
  const { attribute, value, readOnly, onChange } = props
  const full = typeof attribute.max === 'number' && asList(value).length >= attribute.max
  return (
    <>
      <Items {...props} componentOf={() => attribute.component ?? ''} />
      {!readOnly && (
        <button type="button" disabled={full} onClick={() => onChange([...asList(value), newItem(null)])}>
          {translate('add')} {toLabel(attribute.name)}
        </button>
      )}
    </>
  )
}

export function ZoneField(props: HolderProps) {
  const translate = useTranslate()
  const { attribute, value, readOnly, onChange } = props
  return (
    <>
      <Items {...props} componentOf={item => String(item.__component)} />
      {!readOnly && (
        <div className="zone-buttons">
          {attribute.components.map(name => (
            <button key={name} type="button" onClick={() => onChange([...asList(value), newItem(name)])}>
              {translate('add')} {toLabel(name)}
            </button>
          ))}
        </div>
      )}
    </>
  )
}

interface ItemsProps extends HolderProps {
  readonly componentOf: (item: JsonRecord) => string
}

function Items(props: ItemsProps) {
  const { value, path, readOnly, onChange, componentOf, attribute } = props
  const schema = useSchema()
  const items = asList(value).filter(isJsonObject)
  /** The entry may have been moved or removed since it was rendered. */
  const changeItem = (key: string, change: (item: JsonRecord) => JsonRecord) =>
    onChange(current =>
      asList(current).map((item, index) =>
        isJsonObject(item) && keyOfItem(item, index) === key ? change(item) : item,
      ),
    )
  const titleOf = (item: JsonRecord, index: number): string => {
    const named = schema.components.get(componentOf(item))?.find(({ type }) => TEXTUAL.has(type))
    const text = named ? describeValue(item[named.name] ?? null) : ''
    const kind = attribute.type === 'dynamiczone' ? `${toLabel(componentOf(item))}: ` : ''
    return `${index + 1}. ${kind}${text.slice(0, 60)}`
  }
  const duplicate = (index: number) => {
    const item = items[index]
    if (!item) return
    const component = componentOf(item)
    const copy = withoutIds(schema, schema.components.get(component) ?? [], item)
    onChange(items.toSpliced(index + 1, 0, { ...copy, __key: crypto.randomUUID() }))
  }
  return (
    <OrderedList
      items={items}
      keyOf={keyOfItem}
      labelOf={titleOf}
      readOnly={readOnly}
      onMove={moved => onChange(moved as JsonValue)}
      onRemove={index => onChange(items.toSpliced(index, 1))}
      onDuplicate={duplicate}
    >
      {(item, index) => (
        <details open={item.id === undefined || items.length < 4}>
          <summary>
            <bdi>{titleOf(item, index)}</bdi>
          </summary>
          <ComponentValues
            {...props}
            component={componentOf(item)}
            item={item}
            path={[...path, String(index)]}
            onItem={change => changeItem(keyOfItem(item, index), change)}
          />
        </details>
      )}
    </OrderedList>
  )
}

const TEXTUAL: ReadonlySet<string> = new Set(['string', 'text', 'richtext', 'email', 'uid', 'enumeration'])
