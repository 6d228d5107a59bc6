import { failed } from '../base/result.ts'
import { changeFile } from './change-file.ts'
import { createFiles } from './create-files.ts'
import type { Files } from './files.ts'
import type { FilesTerms } from './files-terms.ts'
import { refusePixels } from './pictures/refuse-pixels.ts'
import { type FormRules, readForm } from './read-form.ts'
import { refuseKinds } from './refuse-kinds.ts'
import { removeFile } from './remove-file.ts'
import { replaceFile } from './replace-file.ts'
import { discard, stageAgain } from './storage/staging.ts'

/** contract/rest.md 15. */
const UPLOADED: FormRules = { takes: field => field === 'files', fields: 200, fieldSize: 65_536 }

export function openFiles(terms: FilesTerms): Files {
  const { settings, staging } = terms
  return {
    readForm: (source, rules = UPLOADED) =>
      readForm(source, { folder: staging, sizeLimit: settings.sizeLimit, rules }),
    again: async file => ({ ...file, staged: await stageAgain(file.staged, staging) }),
    discard: ({ files }) => discard(files.map(({ staged }) => staged.path)),
    async create(uploads, attachment, by) {
      const refused =
        refuseKinds(uploads, [settings.allowedTypes, attachment?.attribute.allowedTypes]) ??
        refusePixels(uploads, settings.pixelLimit)
      return refused ? failed(refused) : createFiles(uploads, attachment, { ...terms, by })
    },
    change: (id, info, conditions) => changeFile(id, info, { ...terms, conditions }),
    async replace(id, upload, conditions) {
      const refused =
        refuseKinds([upload], [settings.allowedTypes]) ?? refusePixels([upload], settings.pixelLimit)
      return refused ? failed(refused) : replaceFile(id, upload, { ...terms, conditions })
    },
    remove: (id, conditions) => removeFile(id, { ...terms, conditions }),
  }
}
