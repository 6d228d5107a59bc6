import { didYouMean } from '../../base/nearest.ts'
import type { StorageDefinition } from '../../media/storage/custom-storage.ts'
import { BUILT_IN_STORAGES } from '../../media/storage/open-storage.ts'
import { assertKnownKeys } from '../plugin-module.ts'

/** The `media` service of an extension. */
export interface MediaService {
  /** Adds a storage of uploaded files, which `upload.provider` of project.yaml selects by its name. */
  registerStorage(name: string, definition: StorageDefinition): void
}

/** The storages of all extensions, by name. */
export type RegisteredStorages = ReadonlyMap<string, StorageDefinition>

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/** Arguments are checked, since JavaScript plugins are not type-checked. */
export const mediaService = (storages: Map<string, StorageDefinition>): MediaService => ({
  registerStorage(name, definition) {
    if (typeof name !== 'string' || !NAME.test(name))
      throw new Error(`\`${String(name)}\` is no name of a storage, such as \`my-storage\``)
    if (BUILT_IN_STORAGES.includes(name) || storages.has(name))
      throw new Error(`there is a storage \`${name}\` already`)
    if (typeof definition !== 'object' || definition === null)
      throw new Error('registerStorage(…) takes a name and an object with `open`')
    assertKnownKeys(definition, ['open', 'private'], 'registerStorage(…)')
    if (typeof definition.open !== 'function')
      throw new Error(
        `the storage \`${name}\` has no function \`open\`${didYouMean('open', Object.keys(definition))}`,
      )
    if (definition.private !== undefined && typeof definition.private !== 'boolean')
      throw new Error(`\`private\` of the storage \`${name}\` must be true or false`)
    storages.set(name, definition)
  },
})
