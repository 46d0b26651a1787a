
BscoresJ( BÕ@Èª∑¿‚é¿^Uê¿dö§¿∫øÀzy¿≈sD¿À#p¿;o)¿