import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Editor } from 'slate'
import { useSlate } from 'slate-react'
import { useTranslate } from '../shell/i18n.tsx'
import { LinkIcon, PictureIcon } from '../shell/icons.tsx'
import {
  type BlockStyle,
  hasMark,
  linkAt,
  MARKS,
  moveBlock,
  removeBlock,
  STYLES,
  setStyle,
  styleOf,
  toggleMark,
} from './commands.ts'
import { focusEditor } from './focus-editor.ts'
import { indent, outdent, textBlock } from './with-blocks.ts'

interface ToolbarProps {
  readonly id: string
  /** The id of the editor element (aria-controls). */
  readonly controls: string
  readonly onLink: () => void
  readonly onPicture: () => void
}

const SIGNS = { bold: 'B', italic: 'I', underline: 'U', strikethrough: 'S', code: '</>' } as const

/** One stop of the Tab key; the arrow keys move inside (WAI-ARIA, "Toolbar Pattern"). */
export function BlocksToolbar({ id, controls, onLink, onPicture }: ToolbarProps) {
  const translate = useTranslate()
  const editor = useSlate()
  const block = textBlock(editor)
  const inList = block?.[0].type === 'list-item'
  const run = (command: (editor: Editor) => void) => () => {
    focusEditor(editor)
    command(editor)
  }
  return (
    <ToolbarFrame id={id} controls={controls} onEscape={() => focusEditor(editor)}>
      <StyleSelect />
      {MARKS.map(mark => (
        <Tool
          key={mark}
          label={translate(mark)}
          pressed={hasMark(editor, mark)}
          onUse={run(() => toggleMark(editor, mark))}
        >
          <span className={`sign-${mark}`}>{SIGNS[mark]}</span>
        </Tool>
      ))}
      <Tool
        label={translate('addLink')}
        pressed={linkAt(editor) !== null}
        off={!block || block[0].type === 'code'}
        onUse={onLink}
      >
        <LinkIcon />
      </Tool>
      <Tool label={translate('addPicture')} onUse={onPicture}>
        <PictureIcon />
      </Tool>
      <Tool label={translate('outdent')} off={!inList} onUse={run(outdent)}>
        ⇤
      </Tool>
      <Tool label={translate('indent')} off={!inList} onUse={run(indent)}>
        ⇥
      </Tool>
      <Tool label={translate('moveBlockUp')} off={!editor.selection} onUse={run(() => moveBlock(editor, -1))}>
        ↑
      </Tool>
      <Tool
        label={translate('moveBlockDown')}
        off={!editor.selection}
        onUse={run(() => moveBlock(editor, 1))}
      >
        ↓
      </Tool>
      <Tool label={translate('removeBlock')} off={!editor.selection} onUse={run(removeBlock)}>
        ✕
      </Tool>
    </ToolbarFrame>
  )
}

function StyleSelect() {
  const translate = useTranslate()
  const editor = useSlate()
  const style = styleOf(editor)
  const labelOf = (each: BlockStyle): string => {
    const [kind, level] = each.split('-')
    if (level !== undefined) return translate('heading', { level })
    return translate(
      kind === 'unordered' ? 'bulletList' : kind === 'ordered' ? 'numberList' : (kind as 'code'),
    )
  }
  return (
    <select
      aria-label={translate('blockStyle')}
      value={style ?? ''}
      disabled={style === null}
      onChange={event => {
        setStyle(editor, event.target.value as BlockStyle)
        focusEditor(editor)
      }}
    >
      {style === null && <option value="">—</option>}
      {STYLES.map(each => (
        <option key={each} value={each}>
          {labelOf(each)}
        </option>
      ))}
    </select>
  )
}

interface ToolProps {
  readonly label: string
  readonly pressed?: boolean
  readonly off?: boolean
  readonly onUse: () => void
  readonly children: ReactNode
}

const Tool = ({ label, pressed, off = false, onUse, children }: ToolProps) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    aria-pressed={pressed}
    disabled={off}
    // Keeps the editor's selection.
    onMouseDown={event => event.preventDefault()}
    onClick={onUse}
  >
    {children}
  </button>
)

interface FrameProps {
  readonly id: string
  readonly controls: string
  readonly onEscape: () => void
  readonly children: ReactNode
}

function ToolbarFrame({ id, controls, onEscape, children }: FrameProps) {
  const translate = useTranslate()
  const frame = useRef<HTMLDivElement>(null)
  const current = useRef<HTMLElement | null>(null)
  const tools = () => [
    ...(frame.current?.querySelectorAll<HTMLElement>('button:not(:disabled), select:not(:disabled)') ?? []),
  ]
  useEffect(() => {
    const all = tools()
    const stop = all.find(tool => tool === current.current) ?? all[0]
    for (const tool of all) tool.tabIndex = tool === stop ? 0 : -1
  })
  const press = (event: KeyboardEvent<HTMLDivElement>) => {
    const all = tools()
    const next = nextTool(all, event)
    if (event.key === 'Escape') onEscape()
    else if (!next) return
    event.preventDefault()
    next?.focus()
  }
  return (
    <div
      ref={frame}
      id={id}
      role="toolbar"
      className="toolbar"
      aria-label={translate('formatting')}
      aria-controls={controls}
      onKeyDown={press}
      onFocus={event => {
        current.current = event.target
        for (const tool of tools()) tool.tabIndex = tool === event.target ? 0 : -1
      }}
    >
      {children}
    </div>
  )
}

function nextTool(tools: readonly HTMLElement[], { key, target }: KeyboardEvent): HTMLElement | undefined {
  const place = tools.indexOf(target as HTMLElement)
  if (key === 'Home') return tools[0]
  if (key === 'End') return tools.at(-1)
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined
  const rightToLeft = getComputedStyle(target as HTMLElement).direction === 'rtl'
  const step = (key === 'ArrowRight') === rightToLeft ? -1 : 1
  return tools.at((place + step) % tools.length)
}
