import { hkdfSync, randomBytes } from 'node:crypto'
import { EncryptJWT, errors, jwtDecrypt } from 'jose'

/** Claims that only the server can read and write, as a text. */
export interface Sealing {
  seal(claims: Readonly<Record<string, unknown>>, lifetime: number): Promise<string>
  /** null: foreign, changed or expired. */
  open(text: string): Promise<Readonly<Record<string, unknown>> | null>
}

/** The key of `IdentityOptions.sealKey`. */
export const deriveSealKey = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'plinth', 'sign-in at providers', 32))

export function openSealing(key: Uint8Array, others: readonly Uint8Array[]): Sealing {
  return {
    seal: (claims, lifetime) =>
      new EncryptJWT({ ...claims, id: randomBytes(16).toString('base64url') })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(`${lifetime} seconds`)
        .encrypt(key),
    async open(text) {
      const options = {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp', 'purpose'],
      }
      for (const each of [key, ...others]) {
        try {
          return (await jwtDecrypt(text, each, options)).payload
        } catch (error) {
          if (error instanceof errors.JWEDecryptionFailed) continue
          if (error instanceof errors.JOSEError) return null
          throw error
        }
      }
      return null
    },
  }
}
