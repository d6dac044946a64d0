export * from '@isthmus/sdk/wire';
