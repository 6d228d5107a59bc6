import { failed } from '../base/result.ts'
import { changeFile } from './change-file.ts'
import { createFiles } from './create-files.ts'
import type { Files } from './files.ts'
import type { FilesTerms } from './files-terms.ts'
import { readForm } from './read-form.ts'
import { refuseKinds } from './refuse-kinds.ts'
import { removeFile } from './remove-file.ts'
import { replaceFile } from './replace-file.ts'
import { discard } from './staging.ts'

export function openFiles(terms: FilesTerms): Files {
  const { settings, staging } = terms
  return {
    readForm: source =>
      readForm(source, { folder: staging, sizeLimit: settings.sizeLimit, fileField: 'files' }),
    discard: ({ files }) => discard(files.map(({ staged }) => staged.path)),
    async create(uploads, attachment) {
      const refused = refuseKinds(uploads, [settings.allowedTypes, attachment?.attribute.allowedTypes])
      return refused ? failed(refused) : createFiles(uploads, attachment, terms)
    },
    change: (id, info) => changeFile(id, info, terms),
    async replace(id, upload) {
      const refused = refuseKinds([upload], [settings.allowedTypes])
      return refused ? failed(refused) : replaceFile(id, upload, terms)
    },
    remove: id => removeFile(id, terms),
  }
}
