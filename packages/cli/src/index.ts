/** The library, for programs that install the command. A program without the command imports `@isthmus/sdk`. */
export * from '@isthmus/sdk';
