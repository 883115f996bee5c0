// What TypeScript cannot know: which element a selector finds, and what htmx, Chart.js and these modules send.

/** An element that a selector of a page finds. The selector says of which kind it is, and so which of these it has. */
interface PageElement extends HTMLElement {
  checked: boolean;
  complete: boolean;
  content: DocumentFragment;
  currentSrc: string;
  dateTime: string;
  disabled: boolean;
  elements: PageControls;
  files: FileList;
  form: PageElement;
  href: string;
  name: string;
  naturalWidth: number;
  open: boolean;
  search: string;
  action: string;
  requestSubmit(button?: PageElement): void;
  select(): void;
  selectedOptions: HTMLCollectionOf<HTMLOptionElement>;
  reportValidity(): boolean;
  setCustomValidity(words: string): void;
  willValidate: boolean;
  show(): void;
  showModal(): void;
  close(): void;
  type: string;
  value: string;
}

interface PageControls extends Iterable<PageElement> {
  [name: string]: PageElement;
}

interface ParentNode {
  querySelector(selectors: string): PageElement | null;
  querySelectorAll(selectors: string): NodeListOf<PageElement>;
}

interface Element {
  closest(selectors: string): PageElement | null;
}


interface HtmxEventDetail {
  ctx: {
    request: { headers: Record<string, string>; submitter?: PageElement };
    response?: Response;
    text?: string;
    sourceElement: PageElement;
  };
  error?: Error;
  message: { json?: any };
  connection: { socket: WebSocket; config: { reconnect: boolean } };
  code: number;
}

interface PageEvents {
  "htmx:after:request": CustomEvent<HtmxEventDetail>;
  "htmx:after:swap": CustomEvent<HtmxEventDetail>;
  "htmx:after:ws:connection": CustomEvent<HtmxEventDetail>;
  "htmx:after:ws:message": CustomEvent<HtmxEventDetail>;
  "htmx:before:request": CustomEvent<HtmxEventDetail>;
  "htmx:before:swap": CustomEvent<HtmxEventDetail>;
  "htmx:before:ws:message": CustomEvent<HtmxEventDetail>;
  "htmx:config:request": CustomEvent<HtmxEventDetail>;
  "htmx:error": CustomEvent<HtmxEventDetail>;
  "htmx:response:error": CustomEvent<HtmxEventDetail>;
  "htmx:ws:close": CustomEvent<HtmxEventDetail>;
  /** A region is about to be put in place; who prevents it calls `put` later. */
  "pev:arriving": CustomEvent<{ name: string; text: string; put: () => Promise<void> }>;
  "pev:before-part": CustomEvent;
  "pev:after-part": CustomEvent;
  /** Words that were kept in this browser are in their fields again. */
  "pev:restored": CustomEvent;
  /** The server has taken what this form sent. */
  "pev:sent": CustomEvent;
}

type EventOf<Type> = Type extends keyof PageEvents
  ? PageEvents[Type]
  : Type extends keyof GlobalEventHandlersEventMap
    ? GlobalEventHandlersEventMap[Type]
    : Event;

interface Document {
  addEventListener<Type extends keyof PageEvents | keyof GlobalEventHandlersEventMap>(
    type: Type,
    listener: (event: EventOf<Type> & { target: PageElement }) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  getElementById(id: string): PageElement | null;
}

interface HTMLElement {
  addEventListener<Type extends keyof PageEvents | keyof GlobalEventHandlersEventMap>(
    type: Type,
    listener: (event: EventOf<Type> & { target: PageElement }) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

interface Htmx {
  ajax(method: string, path: string, context: object): Promise<void>;
  process(element: Element): void;
  swap(context: object): Promise<void>;
}

declare const htmx: Htmx;

interface Window {
  htmx: Htmx;
  Chart?: any;
}
