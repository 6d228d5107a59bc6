import DOMPurify from 'dompurify'
import { marked } from 'marked'
import { useEffect, useRef, useState } from 'react'
import { asText } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import type { InputProps } from './field-props.ts'
import { mergeLineBreaks, normalizeLineBreaks } from './line-breaks.ts'

/** Markdown with an optional preview. */
export function MarkdownInput(props: InputProps) {
  const translate = useTranslate()
  const { id, value, dir, describedBy, invalid, readOnly, onChange } = props
  const [preview, setPreview] = useState(false)
  const text = asText(value)
  return (
    <div className={preview ? 'markdown split' : 'markdown'}>
      <textarea
        id={id}
        rows={12}
        dir={dir}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        disabled={readOnly}
        value={normalizeLineBreaks(text)}
        onChange={event => onChange(mergeLineBreaks(text, event.target.value) || null)}
      />
      {preview && <MarkdownPreview text={text} dir={dir} />}
      <button type="button" aria-pressed={preview} onClick={() => setPreview(!preview)}>
        {translate('preview')}
      </button>
    </div>
  )
}

/** DOMPurify returns DOM nodes, which are inserted directly: parsing serialized HTML again could undo the sanitising. */
function MarkdownPreview({ text, dir }: { readonly text: string; readonly dir: string }) {
  const translate = useTranslate()
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const html = marked.parse(text, { async: false })
    const clean = DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      USE_PROFILES: { html: true },
      FORBID_TAGS: ['style', 'form', 'input', 'button', 'iframe'],
      FORBID_ATTR: ['style', 'id', 'name', 'class'],
    })
    for (const link of clean.querySelectorAll('a')) {
      link.target = '_blank'
      link.rel = 'noreferrer'
    }
    for (const image of clean.querySelectorAll('img:not([alt])')) image.setAttribute('alt', '')
    element.current?.replaceChildren(clean)
  }, [text])
  return <section ref={element} className="rendered" dir={dir} aria-label={translate('preview')} />
}
