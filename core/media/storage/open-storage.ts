import type { UploadSettings } from '../../project/settings/settings.ts'
import type { FileStorage } from './file-storage.ts'
import { openLocalStorage } from './local-storage.ts'
import { openS3Storage } from './s3-storage.ts'

/** The storage that `upload` of the project file names; project/ has seen to it that the options are there. */
export function openStorage({ provider, providerOptions }: UploadSettings, root: string): FileStorage {
  if (provider === 'local') return openLocalStorage(root)
  const option = (name: string): string => String(providerOptions[name] ?? '')
  return openS3Storage({
    endpoint: option('endpoint') || null,
    region: option('region') || 'us-east-1',
    bucket: option('bucket'),
    accessKeyId: option('accessKeyId'),
    secretAccessKey: option('secretAccessKey'),
    publicUrl: option('publicUrl') || null,
  })
}
