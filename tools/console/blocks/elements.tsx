import { createContext, useContext } from 'react'
import type { RenderElementProps, RenderLeafProps } from 'slate-react'
import { asText, isJsonObject, type JsonValue, printExact } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { safeAddress } from './addresses.ts'
import { OPAQUE_BLOCK, OPAQUE_INLINE } from './nodes.ts'

/** HTML lists may contain only items: a nested list is wrapped in an item. */
const InList = createContext(false)

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const

export function BlockElementView(props: RenderElementProps) {
  const { attributes, children, element } = props
  const inList = useContext(InList)
  switch (element.type) {
    case 'heading': {
      const Heading = HEADINGS[Number(element.level) - 1] ?? 'h6'
      return <Heading {...attributes}>{children}</Heading>
    }
    case 'quote':
      return <blockquote {...attributes}>{children}</blockquote>
    case 'code':
      return (
        <pre {...attributes}>
          <code>{children}</code>
        </pre>
      )
    case 'list':
      return <ListView {...props} />
    case 'list-item':
      return inList ? <li {...attributes}>{children}</li> : <p {...attributes}>{children}</p>
    case 'link':
      return (
        <a
          {...attributes}
          href={safeAddress(element.url) ?? undefined}
          title={asText(element.url as JsonValue)}
        >
          {children}
        </a>
      )
    case 'image':
      return <PictureView {...props} />
    case OPAQUE_BLOCK:
    case OPAQUE_INLINE:
      return <OpaqueView {...props} />
    default:
      return <p {...attributes}>{children}</p>
  }
}

function ListView({ attributes, children, element }: RenderElementProps) {
  const inner = useContext(InList)
  const List = element.format === 'ordered' ? 'ol' : 'ul'
  const items = <InList.Provider value>{children}</InList.Provider>
  if (!inner) return <List {...attributes}>{items}</List>
  return (
    <li {...attributes} className="inner-list">
      <List>{items}</List>
    </li>
  )
}

function PictureView({ attributes, children, element }: RenderElementProps) {
  const image = isJsonObject(element.image) ? element.image : {}
  const address = safeAddress(image.url)
  return (
    <div {...attributes} className="block-picture">
      <div contentEditable={false}>
        {address && <img src={address} alt={asText(image.alternativeText)} />}
        <span className="help">{asText(image.caption) || asText(image.name)}</span>
      </div>
      {children}
    </div>
  )
}

/** Unknown content is shown as JSON and never changed. */
function OpaqueView({ attributes, children, element }: RenderElementProps) {
  const translate = useTranslate()
  const inList = useContext(InList)
  const source = element.source as JsonValue
  const type = isJsonObject(source) ? asText(source.type) : ''
  const label = translate('unknownBlock', { type: type || '?' })
  if (element.type === OPAQUE_INLINE)
    return (
      <span {...attributes} className="opaque">
        <span contentEditable={false} title={label}>
          {printExact(source)}
        </span>
        {children}
      </span>
    )
  const Holder = inList ? 'li' : 'div'
  return (
    <Holder {...attributes} className="opaque">
      <div contentEditable={false}>
        <p className="help">{label}</p>
        <code>{printExact(source)}</code>
      </div>
      {children}
    </Holder>
  )
}

export function BlockLeafView({ attributes, children, leaf }: RenderLeafProps) {
  let content = children
  if (leaf.code) content = <code>{content}</code>
  if (leaf.bold) content = <strong>{content}</strong>
  if (leaf.italic) content = <em>{content}</em>
  if (leaf.underline) content = <u>{content}</u>
  if (leaf.strikethrough) content = <s>{content}</s>
  return <span {...attributes}>{content}</span>
}
