import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { asText, type JsonRecord } from '../api/json.ts'
import { useTyping } from '../lists/filter-bar.tsx'
import { ActionButton } from '../shell/button.tsx'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'
import { FilePicture } from './file-card.tsx'
import { FILES_OF_PAGE, listFiles } from './files.ts'

interface LibraryProps {
  readonly kinds: readonly string[]
  readonly children: (file: JsonRecord) => ReactNode
}

/** The uploaded files that the caller may find, newest first. */
export function Library({ kinds, children }: LibraryProps) {
  const words = useWords()
  const { upload } = useSchema()
  const [search, setSearch] = useState('')
  const [typed, setTyped] = useTyping(search, value => {
    setSearch(value)
    setPage(0)
  })
  const [page, setPage] = useState(0)
  const { data, error, isFetching } = useQuery({
    queryKey: ['files', search, page, kinds],
    queryFn: ({ signal }) => listFiles(search, kinds, page * FILES_OF_PAGE, signal),
    retry: false,
  })
  return (
    <>
      <label className="file-search">
        {words('search')}
        <input type="search" value={typed} onChange={event => setTyped(event.target.value)} />
      </label>
      {error && <p className="fault">{describeFault(error, words)}</p>}
      {data?.length === 0 && (
        <p className="empty">
          {words(search !== '' ? 'nothingFound' : upload ? 'noFilesYet' : 'noFilesForbidden')}
        </p>
      )}
      <ul className="files" aria-busy={isFetching}>
        {data?.slice(0, FILES_OF_PAGE).map(file => (
          <li key={String(file.id)}>
            <FilePicture file={file} />
            <bdi className="file-name">{asText(file.name)}</bdi>
            {children(file)}
          </li>
        ))}
      </ul>
      <nav className="pages" aria-label={words('pages')}>
        <ActionButton off={page === 0} onClick={() => setPage(page - 1)}>
          {words('previous')}
        </ActionButton>
        <ActionButton off={(data?.length ?? 0) <= FILES_OF_PAGE} onClick={() => setPage(page + 1)}>
          {words('next')}
        </ActionButton>
      </nav>
    </>
  )
}
