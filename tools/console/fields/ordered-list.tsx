import { type ReactNode, useRef, useState } from 'react'
import { ActionButton } from '../shell/button.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { CopyIcon } from '../shell/icons.tsx'

interface OrderedListProps<Item> {
  readonly items: readonly Item[]
  readonly keyOf: (item: Item, index: number) => string
  readonly labelOf: (item: Item, index: number) => string
  readonly readOnly: boolean
  /** null: the order cannot be changed. */
  readonly onMove: ((items: readonly Item[]) => void) | null
  readonly onRemove: (index: number) => void
  readonly onDuplicate?: (index: number) => void
  readonly children: (item: Item, index: number) => ReactNode
}

/** A list that is reordered by dragging or by buttons. */
export function OrderedList<Item>(props: OrderedListProps<Item>) {
  const translate = useTranslate()
  const { items, keyOf, readOnly, onMove, children } = props
  const [dragged, setDragged] = useState<number | null>(null)
  const [spoken, setSpoken] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const move = (from: number, to: number) => {
    const item = items[from]
    if (item === undefined || to < 0 || to >= items.length || from === to) return
    onMove?.(items.toSpliced(from, 1).toSpliced(to, 0, item))
    setSpoken(translate('movedTo', { title: props.labelOf(item, from), place: to + 1, count: items.length }))
  }
  return (
    <>
      <ol ref={list} className="ordered" tabIndex={-1}>
        {items.map((item, index) => (
          <li
            key={keyOf(item, index)}
            className={dragged === index ? 'dragged' : undefined}
            onDragOver={event => {
              if (dragged !== null) event.preventDefault()
            }}
            onDrop={event => {
              event.preventDefault()
              if (dragged !== null) move(dragged, index)
              setDragged(null)
            }}
          >
            {!readOnly && onMove && (
              <DragHandle onStart={() => setDragged(index)} onEnd={() => setDragged(null)} />
            )}
            <div className="entry">{children(item, index)}</div>
            {!readOnly && (
              <EntryButtons
                {...props}
                item={item}
                index={index}
                move={move}
                onRemove={at => {
                  // The focused button is removed with its entry.
                  list.current?.focus()
                  props.onRemove(at)
                }}
              />
            )}
          </li>
        ))}
      </ol>
      <p className="hidden-text" aria-live="polite">
        {spoken}
      </p>
    </>
  )
}

const DragHandle = ({ onStart, onEnd }: { readonly onStart: () => void; readonly onEnd: () => void }) => (
  <span className="handle" aria-hidden="true" draggable onDragStart={onStart} onDragEnd={onEnd}>
    ⠿
  </span>
)

interface EntryButtonsProps<Item> extends OrderedListProps<Item> {
  readonly item: Item
  readonly index: number
  readonly move: (from: number, to: number) => void
}

function EntryButtons<Item>(props: EntryButtonsProps<Item>) {
  const { items, item, index, labelOf, onMove, onRemove, onDuplicate, move } = props
  const translate = useTranslate()
  const title = labelOf(item, index)
  const button = (
    key: 'moveUp' | 'moveDown' | 'duplicate' | 'remove',
    sign: ReactNode,
    run: () => void,
    off = false,
  ) => (
    <ActionButton
      className="quiet"
      aria-label={`${translate(key)}: ${title}`}
      title={translate(key)}
      inactive={off}
      onClick={run}
    >
      {sign}
    </ActionButton>
  )
  return (
    <span className="entry-buttons">
      {onMove && button('moveUp', '↑', () => move(index, index - 1), index === 0)}
      {onMove && button('moveDown', '↓', () => move(index, index + 1), index === items.length - 1)}
      {onDuplicate && button('duplicate', <CopyIcon />, () => onDuplicate(index))}
      {button('remove', '✕', () => onRemove(index))}
    </span>
  )
}
