import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { asText, type JsonRecord } from '../api/json.ts'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useDebouncedInput } from '../shell/debounced-input.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import { FilePicture } from './file-card.tsx'
import { listFiles, PAGE_SIZE } from './files.ts'

interface LibraryProps {
  readonly kinds: readonly string[]
  readonly children: (file: JsonRecord) => ReactNode
}

/** The uploaded files that the caller may find, newest first. */
export function Library({ kinds, children }: LibraryProps) {
  const translate = useTranslate()
  const { upload } = useSchema()
  const [search, setSearch] = useState('')
  const [typed, setTyped] = useDebouncedInput(search, value => {
    setSearch(value)
    setPage(0)
  })
  const [page, setPage] = useState(0)
  const { data, error, isFetching } = useQuery({
    queryKey: ['files', search, page, kinds],
    queryFn: ({ signal }) => listFiles(search, kinds, page * PAGE_SIZE, signal),
    retry: false,
  })
  return (
    <>
      <label className="file-search">
        {translate('search')}
        <input type="search" value={typed} onChange={event => setTyped(event.target.value)} />
      </label>
      {error && <p className="fault">{describeFault(error, translate)}</p>}
      {data?.length === 0 && (
        <p className="empty">
          {translate(search !== '' ? 'nothingFound' : upload ? 'noFilesYet' : 'noFilesForbidden')}
        </p>
      )}
      <ul className="files" aria-busy={isFetching}>
        {data?.slice(0, PAGE_SIZE).map(file => (
          <li key={String(file.id)}>
            <FilePicture file={file} />
            <bdi className="file-name">{asText(file.name)}</bdi>
            {children(file)}
          </li>
        ))}
      </ul>
      <nav className="pages" aria-label={translate('pages')}>
        <ActionButton inactive={page === 0} onClick={() => setPage(page - 1)}>
          {translate('previous')}
        </ActionButton>
        <ActionButton inactive={(data?.length ?? 0) <= PAGE_SIZE} onClick={() => setPage(page + 1)}>
          {translate('next')}
        </ActionButton>
      </nav>
    </>
  )
}
