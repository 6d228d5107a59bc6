/** How many documents a list has unless asked otherwise, and at most. */
interface PageLimits {
  readonly usual: number
  readonly most: number
}

type Written = { readonly [Key in keyof PageLimits]: number | undefined }

/** A limit that the file does not set gives way to the one that it sets. Where both are set they stay as they are. */
export function agree({ usual, most }: Written, otherwise: PageLimits): PageLimits {
  return {
    usual: usual ?? Math.min(otherwise.usual, most ?? otherwise.most),
    most: most ?? Math.max(otherwise.most, usual ?? otherwise.usual),
  }
}
