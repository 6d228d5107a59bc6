// Written by `plinth types` from project.yaml: to change it, change that and run it again.
import type { Link, LinkInput, Morph, Part, PartInput, Zone, ZoneInput } from 'plinth'

declare module 'plinth' {
  interface ContentTypes {
    'api::category.category': {
      key: 'category'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string
        slug: string | null
        position: number | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        articles: Link<'api::article.article', true>
      }
      input: {
        name?: string | null
        slug?: string | null
        position?: number | null
        articles?: LinkInput<true>
      }
      required: 'name'
    }
    'api::author.author': {
      key: 'author'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string
        email: string | null
        bio: string | null
        /** Private: never in responses. */
        secret: string | null
        birthday: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        avatar: Link<'plugin::upload.file', false>
        articles: Link<'api::article.article', true>
      }
      input: {
        name?: string | null
        email?: string | null
        bio?: string | null
        /** Private: never in responses. */
        secret?: string | null
        pin?: string | null
        birthday?: string | null
        avatar?: LinkInput<false>
        articles?: LinkInput<true>
      }
      required: 'name'
    }
    'api::article.article': {
      key: 'article'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        title: string | null
        slug: string | null
        body: string | null
        content: unknown[] | null
        excerpt: string | null
        rating: number | null
        price: number | null
        views: string | null
        score: number | null
        day: string | null
        at: string | null
        happensAt: string | null
        stamp: string | null
        featured: boolean | null
        kind: 'news' | 'opinion' | 'review' | null
        contact: string | null
        meta: unknown
        code: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
        locale: string
      }
      populate: {
        author: Link<'api::author.author', false>
        categories: Link<'api::category.category', true>
        related: Link<'api::article.article', true>
        cover: Link<'plugin::upload.file', false>
        gallery: Link<'plugin::upload.file', true>
        seo: Part<'shared.seo', false>
        links: Part<'shared.link', true>
        blocks: Zone<'blocks.quote' | 'blocks.gallery' | 'shared.link'>
        localizations: Link<'api::article.article', true>
      }
      input: {
        title?: string | null
        slug?: string | null
        body?: string | null
        content?: readonly unknown[] | null
        excerpt?: string | null
        rating?: number | null
        price?: number | null
        views?: string | number | bigint | null
        score?: number | null
        day?: string | null
        at?: string | null
        happensAt?: string | Date | null
        stamp?: string | Date | null
        featured?: boolean | null
        kind?: 'news' | 'opinion' | 'review' | null
        contact?: string | null
        meta?: unknown
        code?: string | null
        author?: LinkInput<false>
        categories?: LinkInput<true>
        related?: LinkInput<true>
        cover?: LinkInput<false>
        gallery?: LinkInput<true>
        seo?: PartInput<'shared.seo'> | null
        links?: readonly PartInput<'shared.link'>[] | null
        blocks?: readonly ZoneInput<'blocks.quote' | 'blocks.gallery' | 'shared.link'>[] | null
      }
      required: never
    }
    'api::restaurant.restaurant': {
      key: 'restaurant'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string | null
        description: string | null
        opened: boolean | null
        stars: number | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        chef: Link<'api::author.author', false>
        dishes: Link<'api::dish.dish', true>
        owner: Link<'plugin::users-permissions.user', false>
      }
      input: {
        name?: string | null
        description?: string | null
        opened?: boolean | null
        stars?: number | null
        chef?: LinkInput<false>
        dishes?: LinkInput<true>
        owner?: LinkInput<false>
      }
      required: never
    }
    'api::dish.dish': {
      key: 'dish'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string
        price: number | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        restaurant: Link<'api::restaurant.restaurant', false>
      }
      input: {
        name?: string | null
        price?: number | null
        restaurant?: LinkInput<false>
      }
      required: 'name'
    }
    'api::country.country': {
      key: 'country'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        capital: Link<'api::capital.capital', false>
      }
      input: {
        name?: string | null
        capital?: LinkInput<false>
      }
      required: never
    }
    'api::capital.capital': {
      key: 'capital'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        country: Link<'api::country.country', false>
      }
      input: {
        name?: string | null
        country?: LinkInput<false>
      }
      required: never
    }
    'api::homepage.homepage': {
      key: 'homepage'
      kind: 'single'
      fields: {
        id: number
        documentId: string
        title: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
        locale: string
      }
      populate: {
        hero: Part<'shared.seo', false>
        featured: Link<'api::article.article', true>
        localizations: Link<'api::homepage.homepage', true>
      }
      input: {
        title?: string | null
        hero?: PartInput<'shared.seo'> | null
        featured?: LinkInput<true>
      }
      required: never
    }
    'api::setting.setting': {
      key: 'setting'
      kind: 'single'
      fields: {
        id: number
        documentId: string
        siteName: string
        footer: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: object
      input: {
        siteName?: string | null
        footer?: string | null
      }
      required: 'siteName'
    }
    'plugin::users-permissions.user': {
      key: 'user'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        username: string
        email: string
        provider: string | null
        /** Private: never in responses. */
        resetPasswordToken: string | null
        /** Private: never in responses. */
        confirmationToken: string | null
        confirmed: boolean | null
        blocked: boolean | null
        /** Private: never in responses. */
        sessionVersion: number | null
        /** Private: never in responses. */
        keptSession: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        role: Link<'plugin::users-permissions.role', false>
      }
      input: {
        username?: string | null
        email?: string | null
        provider?: string | null
        /** Private: never in responses. */
        password?: string | null
        /** Private: never in responses. */
        resetPasswordToken?: string | null
        /** Private: never in responses. */
        confirmationToken?: string | null
        confirmed?: boolean | null
        blocked?: boolean | null
        /** Private: never in responses. */
        sessionVersion?: number | null
        /** Private: never in responses. */
        keptSession?: string | null
        role?: LinkInput<false>
      }
      required: 'username' | 'email'
    }
    'plugin::users-permissions.role': {
      key: 'role'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string
        description: string | null
        type: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        users: Link<'plugin::users-permissions.user', true>
      }
      input: {
        name?: string | null
        description?: string | null
        type?: string | null
        users?: LinkInput<true>
      }
      required: 'name'
    }
    'plugin::upload.file': {
      key: 'file'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string
        alternativeText: string | null
        caption: string | null
        focalPoint: unknown
        width: number | null
        height: number | null
        formats: unknown
        hash: string
        ext: string | null
        mime: string
        size: number
        url: string
        previewUrl: string | null
        provider: string
        provider_metadata: unknown
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: {
        related: Morph
      }
      input: {
        name?: string | null
        alternativeText?: string | null
        caption?: string | null
        focalPoint?: unknown
        width?: number | null
        height?: number | null
        formats?: unknown
        hash?: string | null
        ext?: string | null
        mime?: string | null
        size?: number | null
        url?: string | null
        previewUrl?: string | null
        provider?: string | null
        provider_metadata?: unknown
      }
      required: 'name' | 'hash' | 'mime' | 'size' | 'url' | 'provider'
    }
    'plugin::i18n.locale': {
      key: 'locale'
      kind: 'collection'
      fields: {
        id: number
        documentId: string
        name: string | null
        code: string | null
        createdAt: string
        updatedAt: string
        publishedAt: string | null
      }
      populate: object
      input: {
        name?: string | null
        code?: string | null
      }
      required: never
    }
  }
  interface Components {
    'shared.seo': {
      fields: {
        id: number
        metaTitle: string | null
        metaDescription: string | null
        keywords: unknown
      }
      populate: {
        shareImage: Link<'plugin::upload.file', false>
      }
      input: {
        metaTitle?: string | null
        metaDescription?: string | null
        shareImage?: LinkInput<false>
        keywords?: unknown
      }
    }
    'shared.link': {
      fields: {
        id: number
        label: string | null
        url: string | null
      }
      populate: object
      input: {
        label?: string | null
        url?: string | null
      }
    }
    'blocks.quote': {
      fields: {
        id: number
        text: string | null
      }
      populate: {
        author: Link<'api::author.author', false>
      }
      input: {
        text?: string | null
        author?: LinkInput<false>
      }
    }
    'blocks.gallery': {
      fields: {
        id: number
        title: string | null
      }
      populate: {
        images: Link<'plugin::upload.file', true>
        links: Part<'shared.link', true>
      }
      input: {
        title?: string | null
        images?: LinkInput<true>
        links?: readonly PartInput<'shared.link'>[] | null
      }
    }
  }
  interface ModelRows {
    category: {
      id: number
      documentId: string
      name: string
      slug: string | null
      position: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    author: {
      id: number
      documentId: string
      name: string
      email: string | null
      bio: string | null
      secret: string | null
      pin: string | null
      birthday: string | null
      avatarKey: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    article: {
      id: number
      documentId: string
      documentKey: number
      status: string
      locale: string
      title: string | null
      slug: string | null
      body: string | null
      content: unknown
      excerpt: string | null
      rating: number | null
      price: string | null
      views: string | null
      score: number | null
      day: string | null
      at: string | null
      happensAt: Date | null
      stamp: Date | null
      featured: boolean | null
      kind: 'news' | 'opinion' | 'review' | null
      contact: string | null
      meta: unknown
      code: string | null
      authorKey: number | null
      authorInversePosition: number | null
      coverKey: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
      sharedUpdatedAt: Date | null
    }
    restaurant: {
      id: number
      documentId: string
      documentKey: number
      status: string
      name: string | null
      description: string | null
      opened: boolean | null
      stars: number | null
      chefKey: number | null
      ownerKey: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    dish: {
      id: number
      documentId: string
      name: string
      price: string | null
      restaurantKey: number | null
      restaurantDraftKey: number | null
      restaurantInversePosition: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    country: {
      id: number
      documentId: string
      name: string | null
      capitalKey: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    capital: {
      id: number
      documentId: string
      name: string | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    homepage: {
      id: number
      documentId: string
      documentKey: number
      status: string
      locale: string
      title: string | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
      sharedUpdatedAt: Date | null
    }
    setting: {
      id: number
      documentId: string
      siteName: string
      footer: string | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    user: {
      id: number
      documentId: string
      username: string
      email: string
      provider: string | null
      password: string | null
      resetPasswordToken: string | null
      confirmationToken: string | null
      confirmed: boolean | null
      blocked: boolean | null
      sessionVersion: number | null
      keptSession: string | null
      roleKey: number | null
      roleInversePosition: number | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    role: {
      id: number
      documentId: string
      name: string
      description: string | null
      type: string | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    file: {
      id: number
      documentId: string
      name: string
      alternativeText: string | null
      caption: string | null
      focalPoint: unknown
      width: number | null
      height: number | null
      formats: unknown
      hash: string
      ext: string | null
      mime: string
      size: string
      url: string
      previewUrl: string | null
      provider: string
      provider_metadata: unknown
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    locale: {
      id: number
      documentId: string
      name: string | null
      code: string | null
      createdAt: Date
      updatedAt: Date
      publishedAt: Date | null
    }
    'shared.seo': {
      id: number
      status: string
      owner: string
      ownerKey: number
      locale: string | null
      position: number
      metaTitle: string | null
      metaDescription: string | null
      shareImageKey: number | null
      keywords: unknown
    }
    'shared.link': {
      id: number
      status: string
      owner: string
      ownerKey: number
      locale: string | null
      position: number
      label: string | null
      url: string | null
    }
    'blocks.quote': {
      id: number
      status: string
      owner: string
      ownerKey: number
      locale: string | null
      position: number
      text: string | null
      authorKey: number | null
    }
    'blocks.gallery': {
      id: number
      status: string
      owner: string
      ownerKey: number
      locale: string | null
      position: number
      title: string | null
    }
  }
  interface Policies {}
  interface Middlewares {}
  interface Mails {}
}
