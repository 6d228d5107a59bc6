import type { Editor } from 'slate'
import { ReactEditor } from 'slate-react'

/** ReactEditor.focus does nothing while Slate's focus state is stale, after a toolbar or dialog took the focus. */
export function focusEditor(editor: Editor): void {
  ReactEditor.focus(editor)
  if (!ReactEditor.isMounted(editor)) return
  const element = ReactEditor.toDOMNode(editor, editor)
  if (element !== document.activeElement) element.focus({ preventScroll: true })
}
