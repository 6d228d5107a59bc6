import type { Editor } from 'slate'
import { ReactEditor } from 'slate-react'

/** Slate may still count an editor as focused that has lost the focus to its toolbar or to a dialog, and then does nothing. */
export function focusEditor(editor: Editor): void {
  ReactEditor.focus(editor)
  if (!ReactEditor.isMounted(editor)) return
  const element = ReactEditor.toDOMNode(editor, editor)
  if (element !== document.activeElement) element.focus({ preventScroll: true })
}
