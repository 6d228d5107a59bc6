import { transactAgain } from '../database/transact-again.ts'
import type { Model } from '../model/model.ts'
import {
  type Declared,
  isMirrored,
  type Mirror,
  type MirrorTerms,
  readMirror,
  removeMirrored,
  writeMirror,
} from './sync-names.ts'

const mirrorOf = ({ builtIn }: Model): Mirror => ({ type: builtIn.locale, key: 'code', fields: ['name'] })

/** The project's locales as rows of plugin::i18n.locale, with stable ids. One statement where nothing changed. */
export async function mirrorLocales(terms: MirrorTerms): Promise<void> {
  const { database, model, storage } = terms
  const mirror = mirrorOf(model)
  const declared = model.locales.map(({ code, name }): Declared => ({ key: code, fields: { name } }))
  if (isMirrored(declared, await readMirror(database, mirror, storage))) return
  await transactAgain(database, async transaction => {
    await transaction.lock('plinth locales')
    const rows = await readMirror(transaction, mirror, storage)
    await writeMirror(mirror, declared, rows, { ...terms, transaction, schema: database.schema })
    const gone = rows.filter(({ key }) => !declared.some(each => each.key === key))
    await removeMirrored(transaction, mirror.type, gone, storage)
  })
}
